import { describe, expect, it } from 'vitest';
import { joinLine } from '../../../../lambdas/lane/rules/arrival.ts';
import {
  cancelledUpTo,
  deleted,
  wasDeletedWith,
  endLease,
  withdraw,
  withdrawWaiting,
} from '../../../../lambdas/lane/rules/cancelling.ts';
import {
  newLane,
  pruned,
  waitingIn,
  withLease,
  type Lane,
  type Lease,
} from '../../../../lambdas/lane/lane.ts';

const empty = newLane({ accountId: 'acct', kind: 'queue', name: 'q' }, 0, { parallelism: 1 });
const holding = (lease: Partial<Lease> = {}): Lane => withLease(empty, 'm', { slots: 1, ...lease });
/** The first entry is `f`, the last is `b`, and a page of eight is between. */
const long: Lane = { ...empty, line: { front: ['f', 'g'], firstPage: 3, nextPage: 4, back: ['a', 'b'] } };

describe('a message that is cancelled', () => {
  it('leaves the line at once from either end', () => {
    expect(withdraw(long, 'g', undefined).line).toEqual({ ...long.line, front: ['f'] });
    expect(withdraw(long, 'a', 50_000).line).toEqual({ ...long.line, back: ['b'] });
    expect(waitingIn(withdraw(long, 'g', undefined))).toBe(11);
  });

  it('in a page no longer counts as waiting, and leaves in its turn', () => {
    const lane = withdraw(long, 'in a page', undefined);
    expect(lane.line).toBe(long.line);
    expect([waitingIn(long), waitingIn(lane), waitingIn(withdraw(lane, 'another', undefined))]).toEqual([
      12, 11, 10,
    ]);
  });

  it('changes nothing if it does not wait', () => {
    const short = joinLine(empty, 'a');
    expect(withdraw(short, 'm', undefined)).toBe(short);
    expect(withdrawWaiting(holding(), 'm')).toEqual(holding());
    // The message has a slot and is in the line once more.
    const twice = joinLine(holding(), 'm');
    expect(withdrawWaiting(twice, 'm')).toBe(twice);
  });

  it('gives its slot back at once, or after an attempt that may be in flight', () => {
    expect(withdraw(holding(), 'm', undefined).leases.size).toBe(0);
    expect(withdraw(holding({ callbacks: ['c'], ticket: 't' }), 'm', 50_000).leases.get('m')).toEqual({
      slots: 1,
      until: 50_000,
      ticket: 't',
      callbacks: [],
    });
  });

  it('does not extend a lease', () => {
    for (const until of [40_000, 50_000]) {
      const lane = holding({ until });
      expect(endLease(lane, 'm', 50_000)).toBe(lane);
    }
    expect(endLease(holding({ until: 60_000 }), 'm', 50_000).leases.get('m')?.until).toBe(50_000);
    expect(endLease(empty, 'm', 50_000)).toBe(empty);
  });
});

describe('the messages that wait in a lane', () => {
  it('are never counted below zero, and none counts as cancelled once the line is empty', () => {
    const lane = { ...joinLine(empty, 'a'), cancelled: 2 };
    expect(waitingIn(lane)).toBe(0);
    expect(pruned(lane, 10).cancelled).toBe(2);
    expect(pruned({ ...empty, cancelled: 2 }, 10).cancelled).toBe(0);
  });
});

describe('a queue that is deleted', () => {
  it('no longer holds anything back, and remembers the messages to cancel', () => {
    const busy = { ...withLease(long, 'm', { slots: 1 }), cancelled: 1, pumpAt: 70_000, isPaused: true };
    const lane = deleted(busy, 5_000, 90_000);
    expect(lane).toMatchObject({ cancelled: 0, pumpAt: 0, isPaused: false, isDeleted: true });
    expect(lane).toMatchObject({ deletedAt: 5_000, updatedAt: 5_000, keptUntil: 95_000 });
    expect(lane.leases.size).toBe(0);
    expect(lane.deletedLines).toEqual([{ entries: ['f', 'g', 'a', 'b'], firstPage: 3, nextPage: 4 }]);
    // Page numbers are not reused.
    expect(lane.line).toEqual({ front: [], firstPage: 5, nextPage: 5, back: [] });
  });

  it('has nothing to cancel if no message waited, and keeps the messages of an earlier deletion', () => {
    expect(deleted(empty, 0, 0).deletedLines).toEqual([]);
    const again = deleted(joinLine(deleted(joinLine(empty, 'a'), 0, 0), 'b'), 0, 0);
    expect(again.deletedLines.map(({ entries }) => entries)).toEqual([['a'], ['b']]);
  });

  it('cancels a delayed message that was published before, within the seconds by which clocks differ', () => {
    const at = 1_000_000;
    const lane = deleted(empty, at, 0);
    const message = { createdAt: at - 5_001, notBefore: at + 60_000, isAgain: false };
    expect(wasDeletedWith(lane, message)).toBe(true);
    expect(wasDeletedWith(lane, { ...message, createdAt: at - 5_000 })).toBe(false);
    expect(wasDeletedWith(lane, { ...message, createdAt: at + 1 })).toBe(false);
    expect(wasDeletedWith({ ...lane, isDeleted: false }, message)).toBe(true);
    expect(wasDeletedWith(empty, message)).toBe(false);
  });

  it('does not cancel a redelivered job that may have started before', () => {
    const at = 1_000_000;
    const lane = deleted(empty, at, 0);
    const message = { createdAt: at - 60_000, notBefore: at - 1_000 };
    expect(wasDeletedWith(lane, { ...message, isAgain: false })).toBe(true);
    expect(wasDeletedWith(lane, { ...message, isAgain: true })).toBe(false);
    expect(wasDeletedWith(lane, { ...message, notBefore: at + 5_001, isAgain: true })).toBe(true);
  });

  it('has its lines cancelled one by one, each from the page that another pump has reached', () => {
    const [one, two] = [
      { entries: [], firstPage: 2, nextPage: 5 },
      { entries: ['x'], firstPage: 6, nextPage: 9 },
    ];
    const lane: Lane = { ...deleted(empty, 0, 0), deletedLines: [one, two] };
    const after = cancelledUpTo(lane, two, 7);
    expect(after.deletedLines).toEqual([one, { entries: [], firstPage: 7, nextPage: 9 }]);
    expect(cancelledUpTo(after, two, 9).deletedLines).toEqual([one]);
    expect(cancelledUpTo(after, one, 3).deletedLines[0]).toEqual({ ...one, firstPage: 3 });
  });

  it('keeps a later queue’s line that has the same number of pages but other entries', () => {
    const lane: Lane = { ...empty, deletedLines: [{ entries: ['y'], firstPage: 6, nextPage: 9 }] };
    expect(cancelledUpTo(lane, { entries: ['x'], firstPage: 6, nextPage: 9 }, 9)).toBe(lane);
    expect(cancelledUpTo(lane, { entries: ['y'], firstPage: 6, nextPage: 8 }, 8)).toBe(lane);
  });
});
