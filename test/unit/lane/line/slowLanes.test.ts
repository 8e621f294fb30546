import { expect, it } from 'vitest';
import { newLane, type Lane, type LaneKey } from '../../../../lambdas/lane/lane.ts';
import { createCircuits } from '../../../../lambdas/lane/slots/circuits.ts';
import type { Lanes } from '../../../../lambdas/lane/slots/lanes.ts';
import { createLaneGate } from '../../../../lambdas/lane/slots/acquire.ts';
import type { DueAttempt } from '../../../../lambdas/lane/slots/dueAttempt.ts';

const timeoutMs = 30_000;

const traveller: DueAttempt = {
  messageId: `msg_${'0'.repeat(26)}`,
  attempt: 0,
  queue: 'short',
  accountId: 'acct',
  queueName: undefined,
  flowControl: { key: 'crm', parallelism: 1, madeAt: 1 },
  circuit: undefined,
  accountLimits: { parallelism: 10, version: 1 },
  timeoutMs,
  createdAt: 0,
  notBefore: 0,
  admittedTo: undefined,
  isAgain: false,
};

it.each([{ slow: 'key' }, { slow: 'account' }] as const)(
  'give an attempt slots for as long as its request may take, even if the $slow is slow',
  async ({ slow }) => {
    let time = 1_000_000;
    const all = new Map<string, Lane>();
    const take = (key: LaneKey): Lane => all.get(key.kind) ?? newLane(key, time);
    const lanes: Lanes = {
      change: (key, change) => {
        // The first change takes longer than the margin of a lease.
        if (key.kind === slow && !all.has(slow)) time += 12_000;
        const { lane, result } = change(take(key), time);
        all.set(key.kind, lane);
        return Promise.resolve(result);
      },
      update: (key, to) => {
        all.set(key.kind, to(take(key)));
        return Promise.resolve();
      },
    };
    const slots = { take: () => Promise.resolve(undefined) };
    const circuits = createCircuits({
      lanes,
      load: () => Promise.resolve(undefined),
      now: () => time,
      tell: () => {},
      report: () => {},
    });
    const sleep = (): Promise<void> => Promise.resolve();
    const { acquire } = createLaneGate({
      lanes,
      slots,
      circuits,
      now: () => time,
      sleep,
      report: () => {},
    });
    expect(await acquire(traveller)).toHaveProperty('release');
    for (const kind of ['key', 'account']) {
      const [lease] = all.get(kind)?.leases.values() ?? [];
      expect(lease?.until, kind).toBeGreaterThan(time + timeoutMs);
    }
  },
);
