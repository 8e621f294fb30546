import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { CompletionTimeoutJob } from '../../../lambdas/job/job.ts';
import { storedSchedules } from '../../../local/scheduler/storedSchedules.ts';
import { callbackOf } from '../../support/callbacks.ts';
import { setClockAhead } from '../../support/clockAhead.ts';
import { itAtEachDeath, Fate } from '../../support/faults.ts';
import { idsOf, type Fixture } from '../../support/fixture.ts';
import { importLaneLambdas, type LaneLambdas } from '../../support/laneFixture.ts';
import type { Inbox } from '../../support/receiver.ts';
import { useFixture } from '../../support/useFixture.ts';

let fixture: Fixture;
let lambdas: LaneLambdas & Awaited<ReturnType<typeof importCompletions>>;

const importCompletions = async () => ({
  ...(await import('../../../lambdas/delivery/complete.ts')),
  ...(await import('../../../lambdas/message/kinds.ts')),
});

useFixture(async (opened) => {
  fixture = opened;
  lambdas = { ...(await importLaneLambdas()), ...(await importCompletions()) };
});
beforeEach(() => {
  fixture.reset();
});
afterEach(async () => {
  vi.restoreAllMocks();
  await fixture.drain();
});

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const accepting = (): Inbox => fixture.receiver.inbox((_delivery, response) => response.writeHead(202).end());

const keyOf = (messageId: string) => ({ accountId: fixture.account.id, messageId });
const load = async (messageId: string) => {
  const history = await fixture.loadMessage(keyOf(messageId));
  if (history === undefined) throw new Error('The message is not there.');
  return history;
};
const complete = (messageId: string, status: number, body = '') =>
  lambdas.completeAttempt(keyOf(messageId), { status, headers: [], body: Buffer.from(body) });
const timeoutOf = (messageId: string, attempt = 0): CompletionTimeoutJob => ({
  kind: 'completionTimeout',
  ...keyOf(messageId),
  attempt,
});

interface Deferred {
  readonly messageId: string;
  readonly inbox: Inbox;
  readonly callbacks: Inbox;
}

async function send(config: Readonly<Record<string, string>> = {}): Promise<Deferred> {
  const inbox = accepting();
  const callbacks = fixture.receiver.inbox();
  const messageId = await fixture.send(inbox.url, {
    deferred: '1h',
    callback: callbacks.url,
    retries: '0',
    ...config,
  });
  return { messageId, inbox, callbacks };
}

async function expectCompleted({ messageId, callbacks }: Deferred, status: number): Promise<void> {
  const { attempts, open } = await load(messageId);
  expect(attempts).toHaveLength(1);
  expect(attempts[0]?.response.status).toBe(status);
  expect(open).toBeUndefined();
  expect(idsOf(callbacks.deliveries).size).toBe(1);
  expect(callbacks.deliveries.map((delivery) => callbackOf(delivery).status)).toContain(status);
}

describe('deferred completion', () => {
  beforeEach(async () => {
    // Stopped, because the process renews its slots every half a minute.
    vi.spyOn(Date, 'now').mockReturnValue(Date.now());
    // A process’s first attempt takes slots of the account for later ones.
    await fixture.send(fixture.receiver.inbox().url);
    await fixture.doJobs();
  });

  it('costs two writes and does not wait', async () => {
    const inbox = accepting();
    const messageId = await fixture.send(inbox.url, { deferred: '1h' });
    const { job } = await fixture.receiveAttempt();
    fixture.reset();
    await fixture.deliver(job, false);
    // Reads the row, and again in case the destination was quicker than its 202.
    expect(fixture.operations()).toEqual({ QueryCommand: 2, PutItemCommand: 1 });
    fixture.reset();
    await complete(messageId, 200);
    expect(fixture.operations()).toEqual({ QueryCommand: 1, PutItemCommand: 1, SendMessageCommand: 1 });
  });

  it('costs nothing for a message without it', async () => {
    await fixture.send(accepting().url);
    const { job } = await fixture.receiveAttempt();
    fixture.reset();
    await fixture.deliver(job, false);
    expect(fixture.operations()).toEqual({ QueryCommand: 1, PutItemCommand: 1 });
  });
});

describe('a worker that leaves an attempt open', () => {
  itAtEachDeath('and dies at any of its AWS calls leaves it to be completed', async (fate) => {
    const deferred = await send({ 'flow-control-key': fate.name, 'flow-control-value': 'parallelism=1' });
    await fixture.doJobs(fate);
    // A request is repeated only if no row says that the attempt is open.
    expect(deferred.inbox.deliveries.length).toBeLessThanOrEqual(2);
    expect((await load(deferred.messageId)).open?.number).toBe(0);
    // The attempt's deadline is scheduled, whichever process died.
    expect(schedulesOf(deferred.messageId)).toEqual([`${deferred.messageId}-0-open`]);
    await complete(deferred.messageId, 200);
    await fixture.doJobs();
    await expectCompleted(deferred, 200);
    await expectNoLease(fate.name);
  });

  it.each(['completed', 'cancelled'])('gives back its slot if the attempt was %s before', async (what) => {
    const name = new Fate().name;
    const answer = { status: 200, headers: [], body: new Uint8Array() };
    const inbox = fixture.receiver.inbox(({ headers }, response) => {
      const messageId = headers['svc-message-id'] ?? '';
      const named = { number: 0, startedAt: Date.now() };
      const act = async (): Promise<void> => {
        if (what === 'cancelled') await lambdas.cancelMessage(fixture.account, messageId);
        else await lambdas.completeAttempt({ ...keyOf(messageId), named }, answer);
        if (what === 'completed') await fixture.doJobs();
      };
      void act().then(() => response.writeHead(202).end());
    });
    const config = { deferred: '1h', 'flow-control-key': name, 'flow-control-value': 'parallelism=1' };
    await fixture.send(inbox.url, config);
    await fixture.deliver((await fixture.receiveAttempt()).job, false);
    await expectNoLease(name);
  });
});

const schedulesOf = (messageId: string): readonly string[] =>
  [...storedSchedules(fixture.standIns.store)]
    .map(({ name }) => name)
    .filter((name) => name.startsWith(messageId));

async function expectNoLease(key: string): Promise<void> {
  const lane = await lambdas.loadLane({ accountId: fixture.account.id, kind: 'key', name: key });
  expect([...(lane?.leases.keys() ?? [])]).toEqual([]);
}

describe('a request that completes an attempt', () => {
  itAtEachDeath('and dies at any of its AWS calls is repeated by its client', async (fate) => {
    const deferred = await send();
    await fixture.doJobs();
    await fixture.again(fate, () => complete(deferred.messageId, 200, 'whole'));
    await fixture.doJobs();
    await expectCompleted(deferred, 200);
  });

  itAtEachDeath('and is never repeated leaves what follows to the end of its time', async (fate) => {
    const deferred = await send();
    await fixture.doJobs();
    await fixture.underFate(fate, () => complete(deferred.messageId, 200));
    await fixture.drain();
    setClockAhead(2 * hourMs);
    await fixture.perform(timeoutOf(deferred.messageId), { isAgain: false });
    await fixture.doJobs();
    vi.restoreAllMocks();
    const isRecorded = (await load(deferred.messageId)).attempts[0]?.isCompleted === true;
    await expectCompleted(deferred, isRecorded ? 200 : 0);
  });

  it('wins once among many simultaneous ones', async () => {
    const deferred = await send();
    await fixture.doJobs();
    const answers = await Promise.all(
      [200, 500, 201, 404, 204].map((status) => complete(deferred.messageId, status)),
    );
    const [first] = answers;
    if (first === undefined) throw new Error('Nothing was answered.');
    expect(new Set(answers.map(({ response }) => response.status))).toEqual(new Set([first.response.status]));
    await fixture.doJobs();
    await expectCompleted(deferred, first.response.status);
  });
});

/** Unix milliseconds after the completion, at which the other completions arrive. */
const distancesMs = [0, 1, 12_000, 960_000];

describe('a completion that is repeated', () => {
  it.each(distancesMs)('several times after %i ms continues once, within the slots', async (distanceMs) => {
    const times = 4;
    const name = `again ${String(distanceMs)}`;
    let atOnce = 0;
    let most = 0;
    const inbox = fixture.receiver.inbox((_delivery, response) => {
      atOnce += 1;
      most = Math.max(most, atOnce);
      setTimeout(() => {
        atOnce -= 1;
        response.writeHead(202).end();
      }, 20);
    });
    const callbacks = fixture.receiver.inbox();
    const messageId = await fixture.enqueue(name, inbox.url, {
      deferred: '1h',
      callback: callbacks.url,
      retries: '1',
      'retry-delay': '12000',
      'flow-control-key': name,
      'flow-control-value': 'parallelism=1',
    });
    await fixture.doJobs();
    const named = { number: 0, startedAt: 0 };
    const completeAll = (many: number) =>
      Promise.all(
        Array.from({ length: many }, () =>
          lambdas.completeAttempt(
            { ...keyOf(messageId), named },
            { status: 500, headers: [], body: Buffer.from('') },
          ),
        ),
      );
    await completeAll(distanceMs === 0 ? times : 1);
    if (distanceMs > 0) {
      // The jobs of the first may be waiting, under way, or done.
      if (distanceMs > 1) await doJobsAtOnce();
      setClockAhead(distanceMs);
      await completeAll(times);
    }
    for (const seconds of [1, 12, 13, 120, 1_000, 2_000]) {
      setClockAhead(distanceMs + seconds * 1_000);
      await doJobsAtOnce();
    }
    expect(inbox.deliveries.map(({ headers }) => headers['svc-retried'])).toEqual(['0', '1']);
    expect(most).toBe(1);
    expect(callbacks.deliveries).toHaveLength(1);
    await complete(messageId, 200);
    await doJobsAtOnce();
    expect(callbacks.deliveries).toHaveLength(2);
    await expectNoLease(name);
  });

  it('is continued once by a job that SQS delivers twice at once', async () => {
    const deferred = await send({ retries: '1', 'retry-delay': '0' });
    await fixture.doJobs();
    await complete(deferred.messageId, 500);
    const { job } = await fixture.receiveAttempt();
    await Promise.all([1, 2, 3].map(() => fixture.deliver(job, false)));
    for (const minutes of [1, 16, 32, 48]) {
      setClockAhead(minutes * 60_000);
      await doJobsAtOnce();
    }
    expect(deferred.inbox.deliveries).toHaveLength(2);
    expect(deferred.callbacks.deliveries).toHaveLength(1);
  });

  it('is continued once at the moment at which its time ends', async () => {
    for (const isCompletedFirst of [true, false]) {
      vi.restoreAllMocks();
      const deferred = await send({ retries: '1', 'retry-delay': '0' });
      await fixture.doJobs();
      setClockAhead(hourMs);
      const timeOut = () => fixture.perform(timeoutOf(deferred.messageId), { isAgain: false });
      const completed = () => complete(deferred.messageId, 500);
      await Promise.allSettled(
        (isCompletedFirst ? [completed, timeOut] : [timeOut, completed]).map((act) => act()),
      );
      for (const minutes of [61, 77, 93]) {
        setClockAhead(minutes * 60_000);
        await doJobsAtOnce();
      }
      expect(deferred.inbox.deliveries).toHaveLength(2);
      expect(deferred.callbacks.deliveries).toHaveLength(1);
      expect(await waitingCallbacksOf(deferred.messageId)).toEqual([]);
    }
  });
});

/** Finds callbacks that are neither delivered nor ended. */
async function waitingCallbacksOf(messageId: string): Promise<readonly string[]> {
  const { unfinishedMessages } = await import('../../../lambdas/message/unfinished.ts');
  const waiting: string[] = [];
  for await (const { message } of unfinishedMessages()) {
    const history = await load(message.messageId);
    if (history.message.callbackOf === messageId) waiting.push(message.messageId);
  }
  return waiting;
}

/** Does the jobs that are due together, as workers do. A failed job is given back. */
async function doJobsAtOnce(): Promise<void> {
  for (let jobs = await fixture.drain(); jobs.length > 0; jobs = await fixture.drain()) {
    await Promise.all(
      jobs.map(async (job) => {
        for (const isAgain of [false, true, true]) {
          try {
            await fixture.perform(job, { isAgain });
            return;
          } catch (error) {
            if (isAgain) throw error;
          }
        }
      }),
    );
  }
}

describe('the continuation of a completed attempt', () => {
  itAtEachDeath('is done though its worker dies at any of its AWS calls', async (fate) => {
    const deferred = await send();
    const { messageId, callbacks } = deferred;
    await fixture.doJobs();
    // The body is longer than the record keeps.
    await complete(messageId, 503, 'x'.repeat(30_000));
    await fixture.doJobs(fate);
    await expectCompleted(deferred, 503);
    const [told] = callbacks.deliveries;
    expect(Buffer.from(told === undefined ? '' : callbackOf(told).body, 'base64')).toHaveLength(30_000);
    expect(await fixture.deadLettersOf(messageId)).toBe(1);
  });
});

describe('the deadline of an open attempt', () => {
  it('is set again if its schedule was lost', async () => {
    const { recover } = await import('../../../lambdas/recovery/recover.ts');
    const deferred = await send();
    await fixture.doJobs();
    const { unschedule } = await import('../../../lambdas/aws/scheduler.ts');
    await unschedule(`${deferred.messageId}-0-open`);
    expect(schedulesOf(deferred.messageId)).toEqual([]);
    await recover({ since: Date.now() + hourMs, isDryRun: false });
    await fixture.doJobs();
    expect(schedulesOf(deferred.messageId)).toEqual([`${deferred.messageId}-0-open`]);
    expect(deferred.inbox.deliveries).toHaveLength(1);
  });

  itAtEachDeath('fails it once, though its worker dies at any of its AWS calls', async (fate) => {
    const deferred = await send();
    await fixture.doJobs();
    await fixture.drain();
    setClockAhead(2 * hourMs);
    const work = (isAgain: boolean) => fixture.perform(timeoutOf(deferred.messageId), { isAgain });
    if ((await fixture.underFate(fate, () => work(false).then(() => true))) === undefined) await work(true);
    await fixture.doJobs();
    vi.restoreAllMocks();
    await expectCompleted(deferred, 0);
    expect(await fixture.deadLettersOf(deferred.messageId)).toBe(1);
  });

  it('fails it when it is over, and not before, though the clock has stepped back since', async () => {
    setClockAhead(2 * hourMs);
    const deferred = await send();
    await fixture.doJobs();
    const timeOut = () => fixture.perform(timeoutOf(deferred.messageId), { isAgain: false });
    // Scheduler sends it two minutes early.
    setClockAhead(3 * hourMs - 2 * minuteMs);
    await timeOut();
    expect((await load(deferred.messageId)).open?.number).toBe(0);
    setClockAhead(hourMs);
    await timeOut();
    expect((await load(deferred.messageId)).attempts[0]?.response.status).toBe(0);
  });

  it('changes nothing if the message was cancelled', async () => {
    const deferred = await send();
    await fixture.doJobs();
    await lambdas.cancelMessage(fixture.account, deferred.messageId);
    setClockAhead(2 * hourMs);
    await fixture.perform(timeoutOf(deferred.messageId), { isAgain: false });
    const { attempts, end } = await load(deferred.messageId);
    expect([attempts, end]).toEqual([[], 'CANCELED']);
  });
});
