import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { LaneKey } from '../../../lambdas/lane/lane.ts';
import { importLaneLambdas, type LaneLambdas } from '../../support/laneFixture.ts';
import { useFixture } from '../../support/useFixture.ts';
import type { Fixture } from '../../support/fixture.ts';

let fixture: Fixture;
let lambdas: LaneLambdas;
useFixture(async (opened) => {
  fixture = opened;
  lambdas = await importLaneLambdas();
});
beforeEach(async () => {
  await fixture.drain();
});
afterEach(() => {
  vi.restoreAllMocks();
});

const laneOf = (kind: LaneKey['kind'], name: string) =>
  lambdas.loadLane({ accountId: fixture.account.id, kind, name });

const waitingIn = async (kind: LaneKey['kind'], name: string): Promise<readonly string[]> => {
  const { front = [], back = [] } = (await laneOf(kind, name))?.line ?? {};
  return [...front, ...back].map((entry) => `msg_${entry.slice(0, 26)}`);
};

const leasesOf = async (kind: LaneKey['kind'], name: string) => [
  ...((await laneOf(kind, name))?.leases.values() ?? []),
];

const cancel = (messageId: string): Promise<void> => lambdas.cancelMessage(fixture.account, messageId);

const keyed = (name: string) => ({ 'flow-control-key': name, 'flow-control-value': 'parallelism=1' });

describe('a message that is cancelled', () => {
  it('leaves the line of its queue', async () => {
    const url = fixture.receiver.inbox().url;
    const [, second, third] = [
      await fixture.enqueue('line', url),
      await fixture.enqueue('line', url),
      await fixture.enqueue('line', url),
    ];
    await cancel(second);
    expect(await waitingIn('queue', 'line')).toEqual([third]);
    expect(await leasesOf('queue', 'line')).toHaveLength(1);
  });

  it('before it is due has not reached its queue or its key, and touches neither', async () => {
    const config = { delay: '1m', ...keyed('early') };
    const messageId = await fixture.enqueue('early', fixture.receiver.origin, config);
    const lanes = () => Promise.all([laneOf('queue', 'early'), laneOf('key', 'early')]);
    const before = await lanes();
    fixture.reset();
    await cancel(messageId);
    expect(await lanes()).toEqual(before);
    expect(fixture.callsOf('GetItemCommand')).toBe(2);
  });

  it('while it waits for its retry frees its queue at once', async () => {
    const inbox = fixture.receiver.inbox((_delivery, response) => response.writeHead(500).end());
    const messageId = await fixture.enqueue('retried', inbox.url, { retries: '1', 'retry-delay': '60000' });
    const { job } = await fixture.receiveAttempt();
    await fixture.deliver(job, false);
    expect(await leasesOf('queue', 'retried')).toHaveLength(1);
    await cancel(messageId);
    expect(await leasesOf('queue', 'retried')).toEqual([]);
  });

  it.each([
    { beforeMs: 5_000, slots: 1 },
    { beforeMs: 5_001, slots: 0 },
  ])(
    '$beforeMs ms before its retry is due leaves its queue $slots slots, because a faster clock may have started it',
    async ({ beforeMs, slots }) => {
      const inbox = fixture.receiver.inbox((_delivery, response) => response.writeHead(500).end());
      const name = `margin-${slots}`;
      const config = { retries: '1', 'retry-delay': '60000', timeout: '20s' };
      const messageId = await fixture.enqueue(name, inbox.url, config);
      const { job } = await fixture.receiveAttempt();
      await fixture.deliver(job, false);
      const history = await fixture.loadMessage(job);
      const dueAt = history?.attempts[0]?.nextDeliveryAt ?? 0;
      vi.spyOn(Date, 'now').mockReturnValue(dueAt - beforeMs);
      await cancel(messageId);
      const leases = await leasesOf('queue', name);
      expect(leases.map(({ until }) => until)).toEqual(slots === 0 ? [] : [dueAt - beforeMs + 30_000]);
    },
  );

  it('leaves the line of its key, also if its retry waits there', async () => {
    const inbox = fixture.receiver.inbox((_delivery, response) => response.writeHead(500).end());
    await fixture.send(inbox.url, { ...keyed('again'), retries: '1', 'retry-delay': '0' });
    const { job } = await fixture.receiveAttempt();
    await fixture.deliver(job, false);
    const key = await laneOf('key', 'again');
    if (key === undefined) throw new Error('The key is not there.');
    await lambdas.saveLane({ ...key, isPaused: true });
    await fixture.doJobs();
    expect(await waitingIn('key', 'again')).toEqual([job.messageId]);
    await cancel(job.messageId);
    expect(await waitingIn('key', 'again')).toEqual([]);
  });
});
