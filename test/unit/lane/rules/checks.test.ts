import { describe, expect, it } from 'vitest';
import { closedCircuit } from '../../../../lambdas/circuit/circuit.ts';
import { enter, joinLine } from '../../../../lambdas/lane/rules/arrival.ts';
import { mostLeases, newLane, type Lane, type Limits } from '../../../../lambdas/lane/lane.ts';
import { nextCheckAt } from '../../../../lambdas/lane/rules/checks.ts';

const now = 10_000;
const laneWith = (limits: Limits = {}): Lane =>
  newLane({ accountId: 'acct', kind: 'key', name: 'k' }, 0, limits);

const waitingIn = (lane: Lane): Lane => joinLine(lane, 'w');

/** Adds attempts in flight whose leases end at these times, or with their message if undefined. */
const holding = (lane: Lane, ...ends: readonly (number | undefined)[]): Lane => ({
  ...lane,
  leases: new Map(ends.map((until, index) => [`e${index}`, { slots: 1, until }])),
});

describe('a pump checks a lane', () => {
  it('never without a reason if the line is empty or paused', () => {
    expect(nextCheckAt(holding(laneWith({ parallelism: 1 }), 50_000), now)).toBeUndefined();
    expect(nextCheckAt({ ...waitingIn(laneWith()), isPaused: true }, now)).toBeUndefined();
  });

  it('at once if there is capacity for the line', () => {
    expect(nextCheckAt(waitingIn(holding(laneWith({ parallelism: 2 }), 50_000)), now)).toBe(now);
  });

  it('when the first lease ends, if all slots are taken, because its process may have died', () => {
    const lane = holding(laneWith({ parallelism: 3 }), 50_000, undefined, 40_000);
    expect(nextCheckAt(waitingIn(lane), now)).toBe(40_000);
  });

  it('never without a reason if all slots belong to messages that give them back', () => {
    expect(nextCheckAt(waitingIn(holding(laneWith({ parallelism: 1 }), undefined)), now)).toBeUndefined();
  });

  it('when the rate allows another start, regardless of the leases', () => {
    const limits = { parallelism: 2, rate: 1, periodMs: 5_000 };
    const { lane } = enter(
      laneWith(limits),
      { entry: 'a', isYoung: false, until: 50_000, hasWaited: false, mayHaveStarted: false },
      now,
    );
    expect(nextCheckAt(waitingIn(lane), now)).toBe(15_000);
  });

  it('when both a slot and a start are free', () => {
    const limits = { parallelism: 1, rate: 1, periodMs: 5_000 };
    const started = { ...laneWith(limits), starts: [{ at: now, count: 1 }] };
    expect(nextCheckAt(waitingIn(holding(started, 50_000)), now)).toBe(50_000);
    expect(nextCheckAt(waitingIn(holding(started, 12_000)), now)).toBe(15_000);
  });

  it('when the first lease ends, if its row is full', () => {
    const ends = Array.from({ length: mostLeases }, (_, index) => 50_000 + index);
    expect(nextCheckAt(waitingIn(holding(laneWith(), ...ends)), now)).toBe(50_000);
    expect(nextCheckAt(waitingIn(holding(laneWith(), ...ends.slice(1))), now)).toBe(now);
  });

  it('when an open circuit takes a probe, and then when that probe’s lease ends', () => {
    const opened = { ...closedCircuit, openedAt: 1_000, openUntil: 30_000 };
    const open: Lane = { ...laneWith(), kind: 'circuit', circuit: opened };
    expect(nextCheckAt(waitingIn(holding(open, 20_000)), now)).toBe(30_000);
    expect(nextCheckAt(waitingIn(open), 30_000)).toBe(30_000);
    expect(nextCheckAt(waitingIn(holding(open, 70_000)), 30_000)).toBe(70_000);
    expect(nextCheckAt(waitingIn(holding(open, 70_000)), 40_000)).toBe(70_000);
  });
});

describe('the row of a deleted queue', () => {
  const line = { entries: ['a'], firstPage: 0, nextPage: 0 };

  it('needs no pump once nothing is left to cancel, because it expires', () => {
    const gone: Lane = { ...laneWith(), kind: 'queue', isDeleted: true, updatedAt: 1_000 };
    expect(nextCheckAt(gone, now)).toBeUndefined();
  });

  it('is checked soon while messages are to be cancelled, even if the queue was created again', () => {
    const lane: Lane = {
      ...laneWith({ parallelism: 1 }),
      kind: 'queue',
      deletedLines: [line],
      updatedAt: 1_000,
    };
    const at = 1_000_000;
    expect(nextCheckAt({ ...lane, isDeleted: true }, at)).toBe(at + 100);
    expect(nextCheckAt(lane, at)).toBe(at + 100);
    // Another pump continues if the first may have died.
    expect(nextCheckAt({ ...lane, pumpAt: at }, at)).toBe(at + 70_000);
    // Messages in the new queue do not wait for the cancelling.
    expect(nextCheckAt(waitingIn(lane), at)).toBe(at);
    expect(nextCheckAt(waitingIn(holding(lane, at + 50_000)), at)).toBe(at + 100);
  });
});
