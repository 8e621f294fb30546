import { beforeEach, describe, expect, it } from 'vitest';
import type { Account } from '../../../lambdas/account/account.ts';
import { newId } from '../../../lambdas/shared/ids.ts';
import { attemptJob, type AttemptJob } from '../../../lambdas/job/job.ts';
import { useWorld } from '../../support/useWorld.ts';
import { idOf, requestOf, type World } from '../../support/world.ts';

/** What follows an attempt, and what does not. */

let world: World;
let services: Awaited<ReturnType<typeof importServices>>;

async function importServices() {
  const [lanes, acceptance, messages, burial, deadLetters, shards] = await Promise.all([
    import('../../../lambdas/lane/store/lanes.ts'),
    import('../../../lambdas/publish/accept.ts'),
    import('../../../lambdas/publish/messages.ts'),
    import('../../../lambdas/deadLetter/deadLetter.ts'),
    import('../../../lambdas/deadLetter/rows.ts'),
    import('../../../lambdas/table/shards.ts'),
  ]);
  return { ...lanes, ...acceptance, ...messages, ...burial, ...deadLetters, ...shards };
}

useWorld(async (opened) => {
  world = opened;
  services = await importServices();
});
beforeEach(async () => {
  await world.drain();
});

const slotsOf = async (name: string): Promise<number | undefined> =>
  (await services.loadLane({ accountId: world.account.id, kind: 'queue', name }))?.leases.size;

/** Takes the attempts out of the queues. */
const attempts = async (): Promise<readonly AttemptJob[]> =>
  (await world.drain()).flatMap((work) => (work.kind === 'attempt' ? [work] : []));

describe('a queue', () => {
  it('waits for the callbacks of all attempts of a message, though its last one was told first', async () => {
    const inbox = world.receiver.inbox((_delivery, response, count) =>
      response.writeHead(count === 0 ? 500 : 200).end(),
    );
    const callback = world.receiver.inbox();
    const config = { callback: callback.url, retries: '1', 'retry-delay': '0', timeout: '20s' };
    const messageId = await world.enqueue('told late', inbox.url, config);
    const isOwn = (work: AttemptJob): boolean => work.messageId === messageId;
    await world.deliver((await world.receiveAttempt()).work, false);
    const afterFirst = await attempts();
    for (const retry of afterFirst.filter(isOwn)) await world.deliver(retry, false);
    for (const told of await attempts()) await world.deliver(told, false);
    expect([inbox.deliveries.length, callback.deliveries.length]).toEqual([2, 1]);
    expect(await slotsOf('told late')).toBe(1);

    const [told] = afterFirst.filter((work) => !isOwn(work));
    if (told === undefined) throw new Error('There is no callback of the first attempt.');
    await world.deliver(told, false);
    expect(callback.deliveries).toHaveLength(2);
    expect(await slotsOf('told late')).toBe(0);
  });
});

describe('a message that is cancelled while its attempt is under way', () => {
  it('keeps its slot until that attempt has surely ended, and nobody is told of its failure', async () => {
    const slots: (number | undefined)[] = [];
    const inbox = world.receiver.inbox(({ headers }, response) => {
      const messageId = headers['svc-message-id'] ?? '';
      void services
        .cancelMessage(world.account, messageId)
        .then(async () => {
          slots.push(await slotsOf('cancelled'));
        })
        .finally(() => response.writeHead(500).end());
    });
    const [callback, failureCallback] = [world.receiver.inbox(), world.receiver.inbox()];
    const config = { callback: callback.url, 'failure-callback': failureCallback.url, retries: '0' };
    const messageId = await world.enqueue('cancelled', inbox.url, { ...config, timeout: '20s' });
    await world.deliver((await world.receiveAttempt()).work, false);
    expect(slots).toEqual([1]);
    expect(await attempts()).toEqual([]);
    await world.work();
    expect([callback.deliveries, failureCallback.deliveries]).toEqual([[], []]);
    expect(await world.deadLettersOf(messageId)).toBe(0);
    expect(await slotsOf('cancelled')).toBe(0);
  });
});

describe('a message that was not accepted', () => {
  it('is not delivered, though its job was sent and only the answer to that was lost', async () => {
    const inbox = world.receiver.inbox();
    const accepted = await world.send(inbox.url, { delay: '1s' });
    const history = await world.loadMessage({ accountId: world.account.id, messageId: accepted });
    if (history === undefined) throw new Error('The message is not there.');
    await world.drain();
    const message = { ...history.message, messageId: newId('msg', Date.now()), notBefore: Date.now() };
    world.refuse('SendMessageCommand');
    expect(await services.accept({ message, body: Buffer.from('x') })).toBe(false);
    world.reset();
    await world.deliver(attemptJob(message, 0), false);
    expect(inbox.deliveries).toEqual([]);
    const left = await world.loadMessage(message);
    expect(left?.end).toBe('REJECTED');
  });
});

describe('a dead letter', () => {
  const account = (id: string, size: number): Account => ({
    ...world.account,
    id,
    limits: { ...world.account.limits, max_dlq_size: size },
  });
  /** A message of the account that has failed for good. */
  async function failedOf(owner: Account) {
    const answer = await world.publishRequest(owner, requestOf('https://example.com/', { delay: '1h' }));
    const history = await world.loadMessage({ accountId: owner.id, messageId: idOf(answer) });
    if (history === undefined) throw new Error('The message is not there.');
    const at = Date.now();
    const response = { status: 500, error: undefined, headers: [], body: Buffer.of() };
    const attempt = { number: 0, startedAt: at, recordedAt: at, state: 'FAILED', response } as const;
    return { history, account: owner, attempt };
  }
  async function deadLettersOf(owner: Account) {
    const found: { readonly messageId: string; readonly expiresAt: number }[] = [];
    for (const shard of services.shardsOf(owner)) {
      for await (const { deadLetter } of services.listDeadLetters(shard, {}, Date.now())) {
        if (deadLetter)
          found.push({ messageId: deadLetter.message.messageId, expiresAt: deadLetter.expiresAt });
      }
    }
    return found;
  }

  it('is not kept for longer than the body of its message', async () => {
    const owner = account('short-lived', 10);
    const failed = await failedOf(owner);
    const expiresAt = Date.now() + 3_600_000;
    const message = { ...failed.history.message, expiresAt };
    await services.deadLetterAttempt({ ...failed, history: { ...failed.history, message } });
    expect(await deadLettersOf(owner)).toEqual([{ messageId: message.messageId, expiresAt }]);
  });

  it('that is left twice by redelivered jobs takes no place from another', async () => {
    const owner = account('left-twice', 2);
    const [one, two] = [await failedOf(owner), await failedOf(owner)];
    for (const failed of [one, one, two, two]) await services.deadLetterAttempt(failed);
    const ids = (await deadLettersOf(owner)).map(({ messageId }) => messageId);
    expect(new Set(ids)).toEqual(new Set([one, two].map(({ history }) => history.message.messageId)));
  });
});
