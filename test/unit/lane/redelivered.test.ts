import { beforeEach, describe, expect, it } from 'vitest';
import { formatEntry } from '../../../lambdas/lane/rules/entry.ts';
import { joinLine } from '../../../lambdas/lane/rules/arrival.ts';
import { withLease } from '../../../lambdas/lane/lane.ts';
import { emptyLine } from '../../../lambdas/lane/rules/line.ts';
import type { Lanes } from '../../../lambdas/lane/slots/lanes.ts';
import { importLaneLambdas, type LaneLambdas } from '../../support/laneFixture.ts';
import { useFixture } from '../../support/useFixture.ts';
import { requestOf, type Fixture } from '../../support/fixture.ts';

/** Redelivered jobs free no slot that is still needed. */

let fixture: Fixture;
let lambdas: LaneLambdas;
let lanes: Lanes;
useFixture(async (opened) => {
  fixture = opened;
  lambdas = await importLaneLambdas();
  ({ lanes } = await import('../../../lambdas/lane/slots/processLanes.ts'));
});
beforeEach(async () => {
  await fixture.drain();
});

async function holdersOf(name: string): Promise<readonly string[]> {
  const lane = await lambdas.loadLane({ accountId: fixture.account.id, kind: 'queue', name });
  return [...(lane?.leases.keys() ?? [])].map((entry) => `msg_${entry.slice(0, 26)}`);
}

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
    const entry = formatEntry({ messageId, attempt: 0, queue: 'short' });
    const key = { accountId: fixture.account.id, kind: 'queue', name: 'twice' } as const;
    await lanes.update(key, (lane) => joinLine(lane, entry));
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
    expect(await fixture.drain()).toMatchObject([{ messageId: job.messageId, attempt: 1 }]);
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
    const key = { accountId: fixture.account.id, kind: 'queue', name: 'stuck' } as const;
    const entry = formatEntry({ messageId: first, attempt: 0, queue: job.queue });
    await lanes.update(key, (lane) => withLease(lane, entry, { slots: 1, ticket: 'lost' }));
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
