import { beforeEach, describe, expect, it } from 'vitest';
import { formatEntry } from '../../../lambdas/lane/rules/entry.ts';
import { joinLine } from '../../../lambdas/lane/rules/arrival.ts';
import { withLease } from '../../../lambdas/lane/lane.ts';
import { emptyLine } from '../../../lambdas/lane/rules/line.ts';
import { keepFor } from '../../../lambdas/lane/rules/leaving.ts';
import type { AttemptJob } from '../../../lambdas/job/job.ts';
import type { Lanes } from '../../../lambdas/lane/slots/changeLanes.ts';
import { setClockAhead } from '../../support/clockAhead.ts';
import { importLaneLambdas, type LaneLambdas } from '../../support/laneFixture.ts';
import { useFixture } from '../../support/useFixture.ts';
import { requestOf, type Fixture } from '../../support/fixture.ts';

/** Redelivered jobs free no slot that is still needed. */

let fixture: Fixture;
let lambdas: LaneLambdas;
let lanes: Lanes;
let services: Awaited<ReturnType<typeof importServices>>;

const importServices = async () => ({
  ...(await import('../../../lambdas/worker/perform.ts')),
  ...(await import('../../../lambdas/message/messages.ts')),
});

useFixture(async (opened) => {
  fixture = opened;
  lambdas = await importLaneLambdas();
  ({ lanes } = await import('../../../lambdas/lane/slots/processLanes.ts'));
  services = await importServices();
});
beforeEach(async () => {
  await fixture.drain();
});

/** The timeout of the account's messages, and a minute for the record. */
const longestAttemptMs = 900_000;

const queueOf = (name: string) => ({ accountId: fixture.account.id, kind: 'queue', name }) as const;

async function holdersOf(name: string): Promise<readonly string[]> {
  const lane = await lambdas.loadLane(queueOf(name));
  return [...(lane?.leases.keys() ?? [])].map((entry) => `msg_${entry.slice(0, 26)}`);
}

const attempts = async (): Promise<readonly AttemptJob[]> =>
  (await fixture.drain()).flatMap((job) => (job.kind === 'attempt' ? [job] : []));

const shortEntry = (messageId: string): string => formatEntry({ messageId, attempt: 0, queue: 'short' });

describe('a granted job of a queue that is redelivered after its attempt was recorded', () => {
  it('leaves the message’s slot until its retries are over', async () => {
    const inbox = fixture.receiver.inbox((_delivery, response) => response.writeHead(500).end());
    const first = await fixture.enqueue('retried', inbox.url, { retries: '1', 'retry-delay': '600000' });
    const { job } = await fixture.receiveAttempt();
    await fixture.enqueue('retried', inbox.url);
    await fixture.deliver(job, false);
    await fixture.deliver(job, true);
    expect(await holdersOf('retried')).toEqual([first]);
    expect(inbox.deliveries).toHaveLength(1);
  });

  it('leaves the message’s slot until its callbacks are over', async () => {
    const inbox = fixture.receiver.inbox();
    const callbacks = fixture.receiver.inbox();
    const first = await fixture.enqueue('called', inbox.url, { callback: callbacks.url });
    const { job } = await fixture.receiveAttempt();
    const second = await fixture.enqueue('called', inbox.url);
    await fixture.deliver(job, false);
    await fixture.deliver(job, true);
    expect(await holdersOf('called')).toEqual([first]);
    await fixture.doJobs();
    expect(callbacks.deliveries).toHaveLength(1);
    expect(inbox.deliveries.map(({ headers }) => headers['svc-message-id'])).toEqual([first, second]);
  });
});

describe('a message that is in its queue’s line twice, because its worker died', () => {
  it('gives back the slot that it gets after it is over', async () => {
    const inbox = fixture.receiver.inbox((_delivery, response, count) =>
      response.writeHead(count === 0 ? 500 : 200).end(),
    );
    const messageId = await fixture.enqueue('twice', inbox.url, {
      retries: '1',
      'retry-delay': '0',
      timeout: '20s',
    });
    await fixture.doJobs();
    expect(inbox.deliveries).toHaveLength(2);
    await lanes.update(queueOf('twice'), (lane) => joinLine(lane, shortEntry(messageId)));
    expect(await holdersOf('twice')).toEqual([messageId]);
    await fixture.doJobs();
    expect(await holdersOf('twice')).toEqual([]);
    expect(inbox.deliveries).toHaveLength(2);
  });
});

describe('a job that SQS delivers to two workers at once', () => {
  it('is checked later if one of them waited, because the other may have died after it recorded the attempt', async () => {
    const inbox = fixture.receiver.inbox((_delivery, response) => response.writeHead(500).end());
    const config = { 'flow-control-key': 'both', 'flow-control-value': 'parallelism=1' };
    await fixture.publishRequest(
      fixture.account,
      requestOf(inbox.url, { ...config, retries: '1', 'retry-delay': '0' }),
    );
    const { job } = await fixture.receiveAttempt();
    await fixture.drain();
    // Another attempt has the slot when the second worker gets the job.
    const key = { accountId: fixture.account.id, kind: 'key', name: 'both' } as const;
    await lanes.update(key, (lane) => withLease({ ...lane, parallelism: 1 }, 'other', { slots: 1 }));
    fixture.reset();
    await fixture.deliver(job, true);
    // A check is due after 15 minutes.
    expect(fixture.operations()['SendMessageCommand']).toBe(1);
    const followUp = { ...job, isFollowUp: true };
    // Before the attempt is recorded, the message waits in the line.
    await fixture.deliver(followUp, false);
    expect(await fixture.drain()).toEqual([]);

    // The other worker records the attempt, and dies before it sends the retry.
    await lanes.update(key, (lane) => withLease({ ...lane, line: emptyLine }, 'other', undefined));
    await fixture.deliver(job, false);
    await fixture.drain();
    await fixture.deliver(followUp, false);
    // The other worker may have sent a retry, whose attempt could be in flight, so nothing is sent before
    // that attempt must have ended.
    expect(await fixture.drain()).toEqual([]);
    setClockAhead(longestAttemptMs);
    const retries = (await attempts()).filter(
      ({ messageId, attempt }) => messageId === job.messageId && attempt === 1,
    );
    expect(retries).toHaveLength(1);
    expect(inbox.deliveries).toHaveLength(1);
  });
});

describe('a queue’s slot whose message is over, though no worker freed it', () => {
  it('is freed by a check of the line, and the next message starts', async () => {
    const inbox = fixture.receiver.inbox();
    const first = await fixture.enqueue('stuck', inbox.url);
    const { job } = await fixture.receiveAttempt();
    await fixture.deliver(job, false);
    expect(await holdersOf('stuck')).toEqual([]);
    const key = queueOf('stuck');
    await lanes.update(key, (lane) => withLease(lane, shortEntry(first), { slots: 1, ticket: 'lost' }));
    const second = await fixture.enqueue('stuck', inbox.url);
    await fixture.drain();
    await fixture.perform(
      { kind: 'pump', accountId: key.accountId, lane: 'queue', name: 'stuck', dueAt: 0, keepsFrom: 0 },
      { isAgain: false },
    );
    expect(await holdersOf('stuck')).toEqual([second]);
    await fixture.doJobs();
    expect(inbox.deliveries).toHaveLength(2);
  });
});

describe('a callback that is noted again after it is over, because two workers make its attempt', () => {
  it('is removed again when it is sent again', async () => {
    const inbox = fixture.receiver.inbox((_delivery, response, count) =>
      response.writeHead(count === 0 ? 500 : 200).end(),
    );
    const callback = fixture.receiver.inbox();
    const config = { callback: callback.url, retries: '1', 'retry-delay': '0', timeout: '20s' };
    const messageId = await fixture.enqueue('noted', inbox.url, config);
    const { job } = await fixture.receiveAttempt();
    await fixture.deliver(job, false);
    const following = await attempts();
    const told = following.find((one) => one.messageId !== messageId);
    const retry = following.find((one) => one.messageId === messageId);
    if (told === undefined || retry === undefined) throw new Error('An attempt is missing.');
    await fixture.deliver(told, false);
    // The second worker notes the callback before it finds the first one’s record and continues from it.
    await lanes.update(queueOf('noted'), (lane) => keepFor(lane, shortEntry(messageId), [told.messageId]));
    await fixture.deliver(job, true);
    for (const again of await attempts()) {
      // A recorded attempt is retried in case the first worker failed to continue.
      await fixture.deliver(again, false).catch(() => fixture.deliver(again, true));
    }
    await fixture.doJobs();
    expect(inbox.deliveries).toHaveLength(2);
    expect(await holdersOf('noted')).toEqual([]);
  });
});

describe('a callback that is cancelled by a process that dies right afterwards', () => {
  it('gives up the queue’s slot when its job is received', async () => {
    const inbox = fixture.receiver.inbox();
    const callback = fixture.receiver.inbox();
    const messageId = await fixture.enqueue('withdrawn', inbox.url, {
      callback: callback.url,
      timeout: '20s',
    });
    const { job } = await fixture.receiveAttempt();
    await fixture.deliver(job, false);
    const [told] = await attempts();
    if (told === undefined) throw new Error('There is no callback.');
    expect(told.messageId).not.toBe(messageId);
    const history = await fixture.loadMessage(told);
    if (history === undefined) throw new Error('The callback is not there.');
    await services.endMessage(history.message, 'CANCELED', Date.now());
    await fixture.deliver(told, false);
    expect(await holdersOf('withdrawn')).toEqual([]);
  });
});

describe('a callback that cannot be stored, so that its message is given up', () => {
  it('is not waited for', async () => {
    const inbox = fixture.receiver.inbox();
    const callback = fixture.receiver.inbox();
    await fixture.enqueue('without', inbox.url, { callback: callback.url, timeout: '20s' });
    const { job } = await fixture.receiveAttempt();
    const name = 'callbackRows';
    fixture.dynamodb.middlewareStack.add(
      (next) => (args) => {
        if (JSON.stringify(args.input).includes('"slotOf"')) throw new Error('It has no room.');
        return next(args);
      },
      { step: 'initialize', name },
    );
    await expect(fixture.deliver(job, false)).rejects.toThrow('It has no room.');
    await services.giveUp(job, 'faults');
    fixture.dynamodb.middlewareStack.remove(name);
    expect(await holdersOf('without')).toHaveLength(1);

    const [told] = await attempts();
    if (told === undefined) throw new Error('The callback was not sent.');
    // A row that is missing after half a minute and 14 reads was never written.
    setClockAhead(60_000);
    await fixture.deliver({ ...told, looks: 14 }, false);
    expect(await holdersOf('without')).toEqual([]);
    expect(callback.deliveries).toEqual([]);
  });
});
