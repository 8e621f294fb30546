import { describe, expect, it } from 'vitest';
import { newLane, withLease, type Lane, type Lease } from '../../../../lambdas/lane/lane.ts';
import {
  endGrant,
  endedHolder,
  keepFor,
  leave,
  leaveCallback,
  leaveWith,
} from '../../../../lambdas/lane/rules/leaving.ts';

const empty = newLane({ accountId: 'acct', kind: 'queue', name: 'q' }, 0, { parallelism: 9 });
const holding = (lease: Partial<Lease> = {}, holder = 'm', lane: Lane = empty): Lane =>
  withLease(lane, holder, { slots: 1, ...lease });
const leaseIn = ({ leases }: Lane): Lease | undefined => leases.get('m');

describe('the slot of a queue’s message', () => {
  it('is kept once for each callback', () => {
    const one = keepFor(holding(), 'm', ['a', 'a']);
    expect(leaseIn(one)).toEqual({ slots: 1, callbacks: ['a'] });
    expect(leaseIn(keepFor(one, 'm', ['a', 'b']))?.callbacks).toEqual(['a', 'b']);
    const none = holding();
    expect(keepFor(none, 'm', [])).toBe(none);
  });

  it('is not kept for another callback once its last attempt is recorded', () => {
    const over = holding({ isOver: true, callbacks: ['a'] });
    expect(keepFor(over, 'm', ['b'])).toBe(over);
  });

  it('is not kept for more than 3,000 callbacks of all messages, so that they fit into the row', () => {
    const many = Array.from({ length: 2_990 }, (_, index) => `c${index}`);
    const lane = holding({}, 'm', holding({ callbacks: many }, 'other', holding({}, 'third')));
    const ten = Array.from({ length: 10 }, (_, index) => `d${index}`);
    expect(leaseIn(keepFor(lane, 'm', ten))?.callbacks).toEqual(ten);
    expect(keepFor(lane, 'm', [...ten, 'one more'])).toBe(lane);
  });

  it('is free when the message and the last of its callbacks are over', () => {
    expect(leave(holding({ callbacks: [] }), 'm').leases.size).toBe(0);
    const kept = leave(holding({ callbacks: ['a', 'b'] }), 'm');
    expect(leaseIn(kept)).toEqual({ slots: 1, callbacks: ['a', 'b'], isOver: true });
    const last = leaveCallback(kept, 'm', 'a');
    expect(leaseIn(last)).toEqual({ slots: 1, callbacks: ['b'], isOver: true });
    expect(leaveCallback(last, 'm', 'b').leases.size).toBe(0);
  });

  it('is kept by a message that continues after its callback is over', () => {
    expect(leaseIn(leaveCallback(holding({ callbacks: ['a'] }), 'm', 'a'))).toEqual({
      slots: 1,
      callbacks: [],
    });
  });

  it('is not freed by a callback or a message that does not hold it', () => {
    const other = holding({}, 'other');
    expect(leave(other, 'm')).toBe(other);
    expect(leaveCallback(other, 'm', 'a')).toBe(other);
    expect(leaveCallback(other, 'other', 'a')).toBe(other);
    expect(leaveWith(other, 'm', new Set(['a']))).toBe(other);
    expect(keepFor(other, 'm', ['a'])).toBe(other);
  });
});

describe('a message that was found to be over', () => {
  it('waits for its callbacks that were sent, and for no others', () => {
    const lane = leaveWith(holding({ callbacks: ['sent', 'never'] }), 'm', new Set(['sent', 'early']));
    expect(leaseIn(lane)).toEqual({ slots: 1, callbacks: ['sent'], isOver: true });
    expect(leaveWith(lane, 'm', new Set(['sent']))).toBe(lane);
    expect(leaveWith(lane, 'm', new Set()).leases.size).toBe(0);
  });

  it('still waits if all its callbacks were sent, and loses its slot if it has none', () => {
    const all = leaveWith(holding({ callbacks: ['a'] }), 'm', new Set(['a']));
    expect(leaseIn(all)).toEqual({ slots: 1, callbacks: ['a'], isOver: true });
    expect(leaveWith(holding(), 'm', new Set()).leases.size).toBe(0);
  });

  it('loses its slot, unless it was granted a new one since', () => {
    const lane = holding({ ticket: 't' });
    expect(endedHolder(lane, 'm', 't').leases.size).toBe(0);
    expect(endedHolder(lane, 'm', 'u')).toBe(lane);
    expect(endedHolder(lane, 'm', undefined)).toBe(lane);
    expect(endedHolder(holding(), 'm', undefined).leases.size).toBe(0);
    expect(endedHolder(empty, 'm', undefined)).toBe(empty);
  });
});

describe('a grant whose job is not needed', () => {
  const rated: Lane = { ...empty, rate: 5, periodMs: 1_000, starts: [{ at: 500, count: 2 }], cancelled: 1 };
  const granted = holding({ ticket: 't', startAt: 500, until: 90_000 }, 'm', rated);

  it('is declined later if it is not written yet', () => {
    expect(endGrant(rated, 'm', 't', 'over', 600)).toEqual({ lane: rated, result: 'early' });
  });

  it('was never written if another attempt has the slot for long enough', () => {
    expect(endGrant(granted, 'm', 'u', 'over', 600)).toEqual({ lane: granted, result: 'left' });
    expect(endGrant(granted, 'm', 'u', 'over', 84_999)).toEqual({ lane: granted, result: 'left' });
    // The other lease ends, and the grant may be the next write.
    expect(endGrant(granted, 'm', 'u', 'over', 85_000)).toEqual({ lane: granted, result: 'early' });
  });

  it('leaves the slot to a message that continues', () => {
    expect(endGrant(granted, 'm', 't', 'goesOn', 600)).toEqual({ lane: granted, result: 'left' });
  });

  it('gives back the slot of a message that is over, and its start stays counted', () => {
    const { lane, result } = endGrant(granted, 'm', 't', 'over', 600);
    expect(result).toBe('left');
    expect(lane).toMatchObject({ leases: new Map(), starts: [{ at: 500, count: 2 }], cancelled: 1 });
  });

  it('gives back the slot and the start of a cancelled message, which no longer waits', () => {
    const { lane, result } = endGrant(granted, 'm', 't', 'cancelled', 600);
    expect(result).toBe('left');
    expect(lane).toMatchObject({ leases: new Map(), starts: [{ at: 500, count: 1 }], cancelled: 0 });
    expect(endGrant({ ...granted, cancelled: 0 }, 'm', 't', 'cancelled', 600).lane.cancelled).toBe(0);
    expect(endGrant({ ...granted, cancelled: 3 }, 'm', 't', 'cancelled', 600).lane.cancelled).toBe(2);
  });
});
