import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Account } from '../../../lambdas/account/account.ts';
import { attemptJob, type AttemptJob } from '../../../lambdas/job/job.ts';
import { setClockAhead } from '../../support/clockAhead.ts';
import { importLaneLambdas, type LaneLambdas } from '../../support/laneFixture.ts';
import { useFixture } from '../../support/useFixture.ts';
import { idOf, requestOf, type Fixture } from '../../support/fixture.ts';

let fixture: Fixture;
let lambdas: LaneLambdas;
let services: Awaited<ReturnType<typeof importServices>>;

const importServices = async () => ({
  ...(await import('../../../lambdas/message/messages.ts')),
  ...(await import('../../../lambdas/lane/accountLanes.ts')),
});

useFixture(async (opened) => {
  fixture = opened;
  lambdas = await importLaneLambdas();
  services = await importServices();
});
beforeEach(async () => {
  await fixture.drain();
});
afterEach(() => {
  vi.restoreAllMocks();
});

async function historyOf(messageId: string, { id: accountId } = fixture.account) {
  const history = await fixture.loadMessage({ accountId, messageId });
  if (history === undefined) throw new Error('The message is not there.');
  return history;
}

const attempts = async (): Promise<readonly AttemptJob[]> =>
  (await fixture.drain()).flatMap((job) => (job.kind === 'attempt' ? [job] : []));

const leasesOf = async (kind: 'queue' | 'key', name: string) => [
  ...((await lambdas.loadLane({ accountId: fixture.account.id, kind, name }))?.leases.values() ?? []),
];

/** The longest message timer: a follow-up of a quick attempt is due then. */
const followUpMs = 900_000;

const failing = () => fixture.receiver.inbox((_delivery, response) => response.writeHead(500).end());

describe('the job of a recorded attempt', () => {
  it('is followed up later until the next attempt shows that a worker has continued', async () => {
    const inbox = failing();
    const messageId = await fixture.send(inbox.url, { retries: '3', 'retry-delay': '0' });
    const { job } = await fixture.receiveAttempt();
    await fixture.deliver(job, false);
    const [retry] = await attempts();
    if (retry === undefined) throw new Error('There is no retry.');
    await fixture.deliver(job, false);
    expect(await attempts()).toEqual([]);
    setClockAhead(followUpMs);
    expect(await attempts()).toEqual([
      { ...attemptJob((await historyOf(messageId)).message, 0), isFollowUp: true },
    ]);
    await fixture.deliver(retry, false);
    await fixture.drain();
    await fixture.deliver(job, false);
    expect(await attempts()).toEqual([]);
    expect(inbox.deliveries).toHaveLength(2);
    expect((await historyOf(messageId)).attempts).toHaveLength(2);
  });
});

describe('an attempt', () => {
  it('gives its slot back and is retried after a second if there is no memory for its body', async () => {
    const [{ plugInRuns }, { putMessage }, runs] = await Promise.all([
      import('../../../lambdas/message/kinds.ts'),
      import('../../../lambdas/message/messages.ts'),
      import('../../../lambdas/workflow/forWorkers.ts'),
    ]);
    const inbox = fixture.receiver.inbox();
    const { message, body } = await historyOf(await fixture.send(inbox.url, { delay: '50s' }));
    const workflow = { role: 'list', runId: 'run', createdAt: message.createdAt, startSeq: 0 } as const;
    const ofRun = {
      ...message,
      messageId: message.messageId.replace(/.$/, (last) => (last === 'A' ? 'B' : 'A')),
      notBefore: message.createdAt,
      flowControl: { key: 'no memory', parallelism: 1, rate: 1, period: 3_600 },
      workflow,
    };
    await putMessage(ofRun, body);
    plugInRuns(() => Promise.resolve({ ...runs.messageKind, open: () => Promise.resolve('later') }));
    try {
      await fixture.deliver(attemptJob(ofRun, 0), false);
    } finally {
      plugInRuns(() => Promise.resolve(runs.messageKind));
    }
    expect(await attempts()).toEqual([]);
    setClockAhead(2_000);
    const again = (await attempts()).filter(({ messageId }) => messageId === ofRun.messageId);
    expect(again).toEqual([attemptJob(ofRun, 0)]);
    expect(inbox.deliveries).toEqual([]);
    const lane = await lambdas.loadLane({ accountId: fixture.account.id, kind: 'key', name: 'no memory' });
    expect([lane?.leases.size, lane?.starts]).toEqual([0, []]);
  });

  it('that arrives early is done when it is due, with the same grant', async () => {
    const inbox = fixture.receiver.inbox();
    const messageId = await fixture.send(inbox.url, { delay: '20s' });
    const { message } = await historyOf(messageId);
    const admittedTo = { lane: 'key', name: 'gone', ticket: 't', sentAt: Date.now() } as const;
    const clock = vi.spyOn(Date, 'now');
    clock.mockReturnValue(message.notBefore - 1);
    await fixture.deliver({ ...attemptJob(message, 0), admittedTo, looks: 3 }, false);
    expect(inbox.deliveries).toEqual([]);
    expect(await attempts()).toEqual([]);
    clock.mockRestore();
    setClockAhead(21_000);
    const [first, second, ...others] = await attempts();
    expect(others).toEqual([]);
    for (const job of [first, second]) expect(job).toMatchObject({ messageId, attempt: 0 });
    const again = [first, second].find((job) => job?.admittedTo !== undefined);
    expect(again?.admittedTo).toEqual(admittedTo);
    expect(again).not.toHaveProperty('looks');
  });

  it('that cannot be recorded gives back its slots, and is retried', async () => {
    const inbox = fixture.receiver.inbox();
    await fixture.send(inbox.url, { 'flow-control-key': 'tried', 'flow-control-value': 'parallelism=1' });
    const { job } = await fixture.receiveAttempt();
    let slots: number | undefined;
    fixture.dynamodb.middlewareStack.add(
      (next) => async (args) => {
        if (!JSON.stringify(args.input).includes('"DELIVERED"')) return next(args);
        slots = (await leasesOf('key', 'tried')).length;
        throw new Error('It has no room.');
      },
      { step: 'initialize', name: 'records' },
    );
    await expect(fixture.deliver(job, false)).rejects.toThrow('It has no room.');
    fixture.dynamodb.middlewareStack.remove('records');
    expect([inbox.deliveries.length, slots]).toEqual([1, 1]);
    expect(await leasesOf('key', 'tried')).toEqual([]);
  });

  it('of a cancelled message makes no attempt, and frees its queue', async () => {
    const inbox = fixture.receiver.inbox();
    const messageId = await fixture.enqueue('ended', inbox.url);
    const { job } = await fixture.receiveAttempt();
    await services.endMessage((await historyOf(messageId)).message, 'CANCELED', Date.now());
    await fixture.deliver(job, false);
    expect(inbox.deliveries).toEqual([]);
    expect(await leasesOf('queue', 'ended')).toEqual([]);
  });

  it('of a cancelled message keeps its slot, if redelivered, as long as another worker may be busy with it', async () => {
    const messageId = await fixture.enqueue('at it', fixture.receiver.inbox().url, { timeout: '20s' });
    const { job } = await fixture.receiveAttempt();
    await services.endMessage((await historyOf(messageId)).message, 'CANCELED', Date.now());
    await fixture.deliver(job, true);
    const [lease] = await leasesOf('queue', 'at it');
    expect(lease?.until).toBeGreaterThan(Date.now() + 29_000);
    expect(lease?.until).toBeLessThanOrEqual(Date.now() + 30_000);
  });
});

describe('a message whose account', () => {
  async function ofOwnAccount(id: string) {
    const inbox = fixture.receiver.inbox();
    const account: Account = { ...fixture.account, id };
    await fixture.saveAccount(account, undefined);
    const messageId = idOf(await fixture.publishRequest(account, requestOf(inbox.url)));
    const { job } = await fixture.receiveAttempt();
    const change = async (of: Partial<Account>): Promise<Account> => {
      const found = await fixture.loadAccount(id, true);
      const changed = { ...account, ...of, version: found?.version ?? 0 };
      await fixture.saveAccount(changed, found);
      return changed;
    };
    return { inbox, messageId, job, change };
  }

  it('was deleted is not delivered', async () => {
    const { inbox, messageId, job, change } = await ofOwnAccount('gone');
    await change({ deletedAt: Date.now() });
    await fixture.deliver(job, false);
    expect(await fixture.drain()).toEqual([]);
    const { attempts: made, end } = await historyOf(messageId, { ...fixture.account, id: 'gone' });
    expect([inbox.deliveries, made, end]).toEqual([[], [], undefined]);
  });

  it('is not served waits, and is delivered when the account is served again', async () => {
    const { inbox, job, change } = await ofOwnAccount('away');
    await change({ active: false });
    await fixture.deliver(job, false);
    expect([inbox.deliveries, await attempts()]).toEqual([[], []]);
    await services.resumeAccount(await change({ active: true }));
    await fixture.doJobs();
    expect(inbox.deliveries).toHaveLength(1);
  });

  it('is served again just when the message starts to wait is delivered, too', async () => {
    const { inbox, job, change } = await ofOwnAccount('back');
    await change({ active: false });
    let isBack = false;
    fixture.dynamodb.middlewareStack.add(
      (next) => async (args) => {
        const result = await next(args);
        if (!isBack && JSON.stringify(args.input).includes('back#account#')) {
          isBack = true;
          await change({ active: true });
        }
        return result;
      },
      { step: 'initialize', name: 'back' },
    );
    await fixture.deliver(job, false);
    fixture.dynamodb.middlewareStack.remove('back');
    expect(isBack).toBe(true);
    await fixture.doJobs();
    expect(inbox.deliveries).toHaveLength(1);
  });
});
