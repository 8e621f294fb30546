import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { Account } from '../../../lambdas/account/account.ts';
import { newId } from '../../../lambdas/shared/ids.ts';
import { attemptJob, type AttemptJob } from '../../../lambdas/job/job.ts';
import type { DeadLetter } from '../../../lambdas/deadLetter/rows.ts';
import { setClockAhead } from '../../support/clockAhead.ts';
import { useFixture } from '../../support/useFixture.ts';
import { idOf, requestOf, type Fixture } from '../../support/fixture.ts';

let fixture: Fixture;
let services: Awaited<ReturnType<typeof importServices>>;

async function importServices() {
  return {
    ...(await import('../../../lambdas/lane/store/laneRows.ts')),
    ...(await import('../../../lambdas/publish/accept.ts')),
    ...(await import('../../../lambdas/publish/cancel.ts')),
    ...(await import('../../../lambdas/deadLetter/deadLetter.ts')),
    ...(await import('../../../lambdas/deadLetter/rows.ts')),
    ...(await import('../../../lambdas/table/shards.ts')),
    ...(await import('../../../lambdas/message/messages.ts')),
    counterOf: (await import('../../../lambdas/usage/counter.ts')).counterOf,
  };
}

useFixture(async (opened) => {
  fixture = opened;
  services = await importServices();
});
beforeEach(async () => {
  await fixture.drain();
});

const slotsOf = async (name: string): Promise<number | undefined> =>
  (await services.loadLane({ accountId: fixture.account.id, kind: 'queue', name }))?.leases.size;

const attempts = async (): Promise<readonly AttemptJob[]> =>
  (await fixture.drain()).flatMap((job) => (job.kind === 'attempt' ? [job] : []));

describe('a queue', () => {
  it('waits for the callbacks of all attempts of a message, even if its last one was delivered first', async () => {
    const inbox = fixture.receiver.inbox((_delivery, response, count) =>
      response.writeHead(count === 0 ? 500 : 200).end(),
    );
    const callback = fixture.receiver.inbox();
    const config = { callback: callback.url, retries: '1', 'retry-delay': '0', timeout: '20s' };
    const messageId = await fixture.enqueue('told late', inbox.url, config);
    const isOwn = (job: AttemptJob): boolean => job.messageId === messageId;
    await fixture.deliver((await fixture.receiveAttempt()).job, false);
    const afterFirst = await attempts();
    for (const retry of afterFirst.filter(isOwn)) await fixture.deliver(retry, false);
    for (const told of await attempts()) await fixture.deliver(told, false);
    expect([inbox.deliveries.length, callback.deliveries.length]).toEqual([2, 1]);
    expect(await slotsOf('told late')).toBe(1);

    const [told] = afterFirst.filter((job) => !isOwn(job));
    if (told === undefined) throw new Error('There is no callback of the first attempt.');
    await fixture.deliver(told, false);
    expect(callback.deliveries).toHaveLength(2);
    expect(await slotsOf('told late')).toBe(0);
  });
});

describe('a message that is cancelled during its attempt', () => {
  it('keeps its slot until the attempt has certainly ended, and its failure is not reported', async () => {
    const slots: (number | undefined)[] = [];
    const inbox = fixture.receiver.inbox(({ headers }, response) => {
      const messageId = headers['svc-message-id'] ?? '';
      void services
        .cancelMessage(fixture.account, messageId)
        .then(async () => {
          slots.push(await slotsOf('cancelled'));
        })
        .finally(() => response.writeHead(500).end());
    });
    const [callback, failureCallback] = [fixture.receiver.inbox(), fixture.receiver.inbox()];
    const config = { callback: callback.url, 'failure-callback': failureCallback.url, retries: '0' };
    const messageId = await fixture.enqueue('cancelled', inbox.url, { ...config, timeout: '20s' });
    await fixture.deliver((await fixture.receiveAttempt()).job, false);
    expect(slots).toEqual([1]);
    expect(await attempts()).toEqual([]);
    await fixture.doJobs();
    expect([callback.deliveries, failureCallback.deliveries]).toEqual([[], []]);
    expect(await fixture.deadLettersOf(messageId)).toBe(0);
    expect(await slotsOf('cancelled')).toBe(0);
  });
});

describe('a message that is cancelled but still delivered', () => {
  it('counts as delivered, and its callback says so', async () => {
    const inbox = fixture.receiver.inbox(({ headers }, response) => {
      const messageId = headers['svc-message-id'] ?? '';
      void services.cancelMessage(fixture.account, messageId).finally(() => response.end());
    });
    const callback = fixture.receiver.inbox();
    const messageId = await fixture.send(inbox.url, { callback: callback.url });
    await fixture.doJobs();
    const history = await fixture.loadMessage({ accountId: fixture.account.id, messageId });
    expect(history).toMatchObject({ end: 'CANCELED', attempts: [{ state: 'DELIVERED' }] });
    expect(callback.deliveries).toHaveLength(1);
  });
});

describe('the callbacks of an attempt', () => {
  it('count as messages of the account', async () => {
    const counter = await services.counterOf(fixture.account, Date.now());
    const inbox = fixture.receiver.inbox();
    await fixture.send(inbox.url, { callback: inbox.url });
    const { job } = await fixture.receiveAttempt();
    const before = counter.monthlyMessages;
    await fixture.deliver(job, false);
    expect(counter.monthlyMessages).toBe(before + 1);
  });
});

describe('a retry', () => {
  it('is sent when it is due, and not before', async () => {
    const inbox = fixture.receiver.inbox((_delivery, response) => response.writeHead(500).end());
    const messageId = await fixture.send(inbox.url, { retries: '1', 'retry-delay': '20000' });
    const { job } = await fixture.receiveAttempt();
    await fixture.deliver(job, false);
    expect(await attempts()).toEqual([]);
    // An early job makes no attempt, from any sender.
    await fixture.deliver({ ...job, attempt: 1 }, false);
    expect(inbox.deliveries).toHaveLength(1);
    setClockAhead(21_000);
    const sent = (await attempts()).map(({ attempt, ...one }) => [one.messageId, attempt]);
    expect(sent).toEqual([
      [messageId, 1],
      [messageId, 1],
    ]);
    vi.restoreAllMocks();
  });

  it('is not sent if the account was deleted since', async () => {
    const owner: Account = { ...fixture.account, id: 'deleted-since' };
    await fixture.saveAccount({ ...owner, deletedAt: 1 }, undefined);
    const { history, attempt } = await failedOf(owner);
    await services.recordAttempt(history.message, { ...attempt, state: 'RETRY', nextDeliveryAt: 1 });
    await fixture.deliver(attemptJob(history.message, 0), true);
    expect(await attempts()).toEqual([]);
  });
});

async function failedOf(owner: Account, body = '') {
  const answer = await fixture.publishRequest(owner, requestOf('https://example.com/', { delay: '1h' }));
  const history = await fixture.loadMessage({ accountId: owner.id, messageId: idOf(answer) });
  if (history === undefined) throw new Error('The message is not there.');
  const at = Date.now();
  const response = { status: 500, error: undefined, headers: [], body: Buffer.from(body) };
  const attempt = { number: 0, startedAt: at, recordedAt: at, state: 'FAILED', response } as const;
  return { history, account: owner, attempt };
}

describe('a message that was not accepted', () => {
  it('is not delivered, even if its job was sent and only the answer was lost', async () => {
    const inbox = fixture.receiver.inbox();
    const accepted = await fixture.send(inbox.url, { delay: '1s' });
    const history = await fixture.loadMessage({ accountId: fixture.account.id, messageId: accepted });
    if (history === undefined) throw new Error('The message is not there.');
    await fixture.drain();
    const message = { ...history.message, messageId: newId('msg', Date.now()), notBefore: Date.now() };
    fixture.refuse('SendMessageCommand');
    expect(await services.accept({ message, body: Buffer.from('x') })).toBe(false);
    fixture.reset();
    await fixture.deliver(attemptJob(message, 0), false);
    expect(inbox.deliveries).toEqual([]);
    const left = await fixture.loadMessage(message);
    expect(left?.end).toBe('REJECTED');
  });
});

describe('a dead letter', () => {
  const account = (id: string): Account => ({ ...fixture.account, id });
  async function deadLettersOf(owner: Account) {
    const found: DeadLetter[] = [];
    for (const shard of services.shardsOf(owner)) {
      for await (const { deadLetter } of services.listDeadLetters(shard, {}, Date.now())) {
        if (deadLetter) found.push(deadLetter);
      }
    }
    return found;
  }
  it.each([
    { body: 'no', kept: 'no' },
    { body: '', kept: undefined },
  ])('has the last response’s body, if there is one: "$body"', async ({ body, kept }) => {
    const owner = account(`answered-${body}`);
    await services.deadLetterAttempt(await failedOf(owner, body));
    const bodies = (await deadLettersOf(owner)).map(({ responseBody }) => responseBody);
    expect(bodies.map((one) => one && Buffer.from(one).toString())).toEqual([kept]);
  });

  it('is not kept longer than its message’s body', async () => {
    const owner = account('short-lived');
    const failed = await failedOf(owner);
    const expiresAt = Date.now() + 3_600_000;
    const message = { ...failed.history.message, expiresAt };
    await services.deadLetterAttempt({ ...failed, history: { ...failed.history, message } });
    expect((await deadLettersOf(owner)).map((one) => [one.message.messageId, one.expiresAt])).toEqual([
      [message.messageId, expiresAt],
    ]);
  });

  it('that is written twice by redelivered jobs takes one place', async () => {
    const owner = account('left-twice');
    const failed = await failedOf(owner);
    for (let times = 0; times < 2; times += 1) await services.deadLetterAttempt(failed);
    const ids = (await deadLettersOf(owner)).map(({ message }) => message.messageId);
    expect(ids).toEqual([failed.history.message.messageId]);
  });
});
