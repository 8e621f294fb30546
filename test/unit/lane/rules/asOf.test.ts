import { describe, expect, it } from 'vitest';
import { closedCircuit } from '../../../../lambdas/circuit/circuit.ts';
import { circuitLane, keyLane, newLane, pruned, queueLane } from '../../../../lambdas/lane/lane.ts';
import { asOf } from '../../../../lambdas/lane/rules/asOf.ts';
import { wasDeletedWith } from '../../../../lambdas/lane/rules/cancelling.ts';
import { freeStarts, nextFreeStart } from '../../../../lambdas/lane/rules/rate.ts';

const now = 1_790_000_000_000;
const hourMs = 3_600_000;

describe('a lane whose clock has stepped back by an hour', () => {
  const key = { ...newLane(keyLane('acct', 'k'), 0, { rate: 2, periodMs: 1_000 }), version: 1 };

  it('allows the next starts after a period', () => {
    const lane = asOf({ ...key, starts: [{ at: now + hourMs, count: 2 }] }, now);
    expect(freeStarts(lane, now)).toBe(0);
    expect(nextFreeStart(lane, now)).toBe(now + 1_000);
    expect(freeStarts(lane, now + 1_000)).toBe(2);
  });

  it('takes the limits of the next message', () => {
    expect(asOf({ ...key, limitsMadeAt: now + hourMs }, now).limitsMadeAt).toBe(0);
    const account = { ...key, kind: 'account', limitsMadeAt: now + hourMs } as const;
    expect(asOf(account, now)).toBe(account);
  });

  it('ends the slots of a dead process after as long as ever', () => {
    const leases = new Map([
      ['process#dead', { slots: 3, until: now + hourMs }],
      ['attempt/0s', { slots: 1, until: now + hourMs }],
    ]);
    const lane = asOf({ ...key, leases }, now);
    expect([...pruned(lane, now + 70_000).leases.keys()]).toEqual(['attempt/0s']);
  });

  it('cancels no delayed message that was published since', () => {
    const deleted = { ...newLane(queueLane('acct', 'q'), 0), version: 1, deletedAt: now + hourMs };
    const message = { createdAt: now, notBefore: now + 2_000, isAgain: false };
    expect(wasDeletedWith(deleted, message)).toBe(true);
    expect(wasDeletedWith(asOf(deleted, now), message)).toBe(false);
  });

  it('probes its host after the rest of the time', () => {
    const circuit = { ...closedCircuit, failedAt: now + hourMs, failures: 5 };
    const lane = { ...newLane(circuitLane('acct', 'h'), 0), version: 1 };
    expect(asOf({ ...lane, circuit }, now).circuit).toEqual({ ...circuit, failedAt: now });
    const open = { ...circuit, openedAt: now + hourMs, openUntil: now + hourMs + 30_000 };
    expect(asOf({ ...lane, circuit: open }, now).circuit).toEqual({
      ...open,
      failedAt: now,
      openedAt: now,
      openUntil: now + 30_000,
    });
  });
});

it('a lane whose clock differs from that of another process does not change', () => {
  const lane = { ...newLane(keyLane('acct', 'k'), 0, { rate: 2 }), starts: [{ at: now + 9_000, count: 2 }] };
  expect(asOf({ ...lane, limitsMadeAt: now + 4_000 }, now)).toMatchObject({ limitsMadeAt: now + 4_000 });
  expect(asOf(lane, now)).toBe(lane);
});
