import { describe, expect, it } from 'vitest';
import { grantNext, withPageRead } from '../../../../lambdas/lane/rules/grant.ts';
import {
  enter,
  joinLine,
  keepWaiting,
  resume,
  type Arrival,
} from '../../../../lambdas/lane/rules/arrival.ts';
import {
  newLane,
  waitingIn,
  withLease,
  type Lane,
  type Lease,
  type Limits,
} from '../../../../lambdas/lane/lane.ts';
import { spill } from '../../../../lambdas/lane/rules/line.ts';

const laneWith = (limits: Limits): Lane => newLane({ accountId: 'acct', kind: 'key', name: 'k' }, 0, limits);
const arrivalOf = (entry: string, more: Partial<Arrival> = {}): Arrival => ({
  entry,
  isYoung: false,
  until: 50_000,
  hasWaited: false,
  mayHaveStarted: false,
  ...more,
});
/** Returns the lane with a lease of `a`. Its start, if any, is counted. */
const holding = (lane: Lane, lease: Partial<Lease>): Lane => ({
  ...withLease(lane, 'a', { slots: 1, ...lease }),
  starts: lease.startAt === undefined ? [] : [{ at: lease.startAt, count: 1 }],
});
const leaseIn = ({ leases }: Lane): Lease | undefined => leases.get('a');

describe('an attempt that arrives', () => {
  it('takes a slot if there is one, and otherwise joins the line, as it does in a paused lane', () => {
    const first = enter(laneWith({ parallelism: 1 }), arrivalOf('a', { ticket: 't' }), 10);
    expect(first.result).toBe('in');
    expect(leaseIn(first.lane)).toStrictEqual({ slots: 1, until: 50_000, ticket: 't' });
    for (const lane of [first.lane, { ...laneWith({}), isPaused: true }]) {
      const second = enter(lane, arrivalOf('b'), 10);
      expect(second.result).toBe('waits');
      expect(waitingIn(second.lane)).toBe(1);
    }
  });

  it('has its start counted if the lane has a rate, and gets a lease only if the lane has slots', () => {
    const rate = { rate: 1, periodMs: 1_000 };
    const starts = [{ at: 10, count: 1 }];
    const { lane: both } = enter(laneWith({ ...rate, parallelism: 1 }), arrivalOf('a'), 10);
    expect(both).toMatchObject({ starts });
    expect(leaseIn(both)).toMatchObject({ slots: 1, until: 50_000, startAt: 10 });
    const { lane } = enter(laneWith(rate), arrivalOf('a'), 10);
    expect(lane).toMatchObject({ leases: new Map(), starts });
  });

  it('does not overtake the line, even if there is capacity', () => {
    const lane = joinLine(laneWith({ parallelism: 2 }), 'a');
    expect(enter(lane, arrivalOf('b'), 0).result).toBe('waits');
    expect(enter(lane, arrivalOf('b', { hasWaited: true }), 0).result).toBe('in');
  });

  it('of a queue gets a slot like any other if no other job of its message has one', () => {
    // Also if another lane has just granted it a slot.
    expect(enter(laneWith({ parallelism: 1 }), arrivalOf('a', { isYoung: true }), 10).result).toBe('in');
    const queue: Lane = { ...laneWith({ parallelism: 1 }), kind: 'queue' };
    expect(enter(queue, arrivalOf('a', { until: undefined }), 10).result).toBe('in');
    expect(enter(queue, arrivalOf('a', { isYoung: true, ticket: 't' }), 10).result).toBe('early');
  });

  it('is stale if another job has, or may have, its slot while not all writes of the lane are seen', () => {
    const other = holding(laneWith({ parallelism: 2 }), { ticket: 't', until: 50_000 });
    expect(enter(other, arrivalOf('a', { isYoung: true }), 10)).toEqual({ lane: other, result: 'early' });
    expect(enter(other, arrivalOf('a'), 10)).toEqual({ lane: other, result: 'stale' });
    const message: Lane = { ...holding(laneWith({ parallelism: 2 }), { ticket: 't' }), kind: 'queue' };
    expect(enter(message, arrivalOf('a', { isYoung: true, ticket: 'u' }), 10).result).toBe('stale');
  });

  it('of a queue may be granted a slot again once all processes’ clocks agree that its lease has ended', () => {
    const queue: Lane = { ...holding(laneWith({ parallelism: 1 }), { until: 20_000 }), kind: 'queue' };
    const young = arrivalOf('a', { isYoung: true, ticket: 't' });
    expect(enter(queue, young, 14_999).result).toBe('stale');
    expect(enter(queue, young, 15_000).result).toBe('early');
  });
});

describe('a job whose attempt already has a lease', () => {
  const lane = laneWith({ parallelism: 2 });

  it('extends the lease to the longest duration of its attempt', () => {
    const short = holding(lane, { until: 20_000, ticket: 't' });
    const { lane: after, result } = enter(short, arrivalOf('a', { ticket: 't' }), 10);
    expect(result).toBe('in');
    expect(leaseIn(after)).toEqual({ slots: 1, until: 50_000, ticket: 't' });
    expect(after.starts).toEqual([]);
  });

  it.each([50_000, 60_000, undefined])(
    'does not change a lease that ends at %s, which is late enough',
    (until) => {
      const long = holding(lane, { until });
      expect(enter(long, arrivalOf('a'), 10)).toStrictEqual({ lane: long, result: 'in' });
      expect(enter(long, arrivalOf('a'), 10).lane).toBe(long);
    },
  );

  it('extends the lease until the message is over if its own lease has no end', () => {
    const { lane: after } = enter(holding(lane, { until: 60_000 }), arrivalOf('a', { until: undefined }), 10);
    expect(leaseIn(after)).toEqual({ slots: 1, until: undefined });
  });
});

describe('a job that arrives after its counted start', () => {
  const limits = { parallelism: 5, rate: 1, periodMs: 4_000 };
  const started = (lease: Partial<Lease> = {}): Lane =>
    holding(laneWith(limits), { until: 50_000, startAt: 1_000, ...lease });
  /** Returns the lane after another attempt has used the rate. */
  const overtaken = (at: number, lane = started()): Lane => ({
    ...lane,
    starts: [...lane.starts, { at, count: 1 }],
  });

  it('uses its counted start within 100 ms, the time that a job takes to arrive', () => {
    const lane = started();
    expect(enter(lane, arrivalOf('a'), 1_100).lane).toBe(lane);
    expect(enter(lane, arrivalOf('a'), 1_101).lane.starts).toEqual([{ at: 1_101, count: 1 }]);
  });

  it('keeps its counted start if only its lease is too short', () => {
    const { lane, result } = enter(started({ until: 20_000 }), arrivalOf('a'), 1_050);
    expect(result).toBe('in');
    expect(leaseIn(lane)).toEqual({ slots: 1, until: 50_000, startAt: 1_000 });
    expect(lane.starts).toEqual([{ at: 1_000, count: 1 }]);
  });

  it('keeps its slot and waits for the next start if that is soon, with a longer lease', () => {
    const { lane, result } = enter(overtaken(2_000), arrivalOf('a'), 3_000);
    expect(result).toBe('in');
    expect(leaseIn(lane)).toEqual({ slots: 1, until: 53_000, startAt: 6_000 });
    expect(lane.starts).toEqual([
      { at: 2_000, count: 1 },
      { at: 6_000, count: 1 },
    ]);
  });

  it('waits with a lease that has no end, too', () => {
    const lane = overtaken(2_000, started({ until: undefined }));
    const { lane: after } = enter(lane, arrivalOf('a'), 3_000);
    expect(leaseIn(after)).toEqual({ slots: 1, until: undefined, startAt: 6_000 });
  });

  it('waits for at most five seconds: otherwise it goes to the front of the line without its slot', () => {
    const slow = { ...limits, periodMs: 10_000 };
    const found = joinLine({ ...overtaken(2_000), ...slow }, 'b');
    expect(enter(found, arrivalOf('a'), 7_000).result).toBe('in');
    const { lane, result } = enter(found, arrivalOf('a'), 6_999);
    expect(result).toBe('waits');
    expect(lane.leases.size).toBe(0);
    expect([...lane.line.front, ...lane.line.back]).toEqual(['a', 'b']);
    expect(lane.starts).toEqual([{ at: 2_000, count: 1 }]);
  });

  it('is counted a second time if another job of its attempt may have made the first start', () => {
    const two: Lane = { ...started(), rate: 2 };
    expect(enter(two, arrivalOf('a', { mayHaveStarted: true }), 3_000).lane.starts).toEqual([
      { at: 1_000, count: 1 },
      { at: 3_000, count: 1 },
    ]);
  });

  it('is counted if the lane’s rate was set after its grant', () => {
    const { lane } = enter(holding(laneWith(limits), { until: 50_000 }), arrivalOf('a'), 3_000);
    expect(leaseIn(lane)?.startAt).toBe(3_000);
    expect(lane.starts).toEqual([{ at: 3_000, count: 1 }]);
  });
});

describe('an attempt that waits for another lane', () => {
  const limits = { parallelism: 1, rate: 1, periodMs: 4_000 };
  const started = holding(laneWith(limits), { until: 50_000, startAt: 1_000, ticket: 't' });

  it('keeps its slot and gives up its start', () => {
    const lane = keepWaiting(started, 'a', 90_000, 1_000);
    expect(leaseIn(lane)).toEqual({ slots: 1, until: 90_000, ticket: 't' });
    expect(lane.starts).toEqual([]);
  });

  it('keeps the start that another job of the same attempt has counted and may still make', () => {
    const waiting = { ...keepWaiting(started, 'a', 90_000, 1_000), rate: 2 };
    const again = enter(waiting, arrivalOf('a', { ticket: 't', mayHaveStarted: true }), 2_000);
    expect(again.result).toBe('in');
    expect(resume(again.lane, arrivalOf('a'), undefined, 3_000).lane.starts).toEqual([
      { at: 2_000, count: 1 },
      { at: 3_000, count: 1 },
    ]);
  });

  it('keeps its counted start if another job may have made it', () => {
    const lane = keepWaiting(started, 'a', 90_000, undefined);
    expect(leaseIn(lane)).toMatchObject({ until: 90_000, startAt: undefined });
    expect(lane.starts).toEqual([{ at: 1_000, count: 1 }]);
  });

  it('gives up its start in a lane without slots', () => {
    const rated = { ...laneWith({ rate: 1, periodMs: 4_000 }), starts: [{ at: 1_000, count: 1 }] };
    expect(keepWaiting(rated, 'a', 90_000, 1_000)).toEqual({ ...rated, starts: [] });
    expect(keepWaiting(rated, 'a', 90_000, undefined)).toBe(rated);
  });

  it('has already continued if the other lane had capacity at once, and is then not changed by a late note', () => {
    // It continues in the millisecond in which its first start was counted.
    const { lane, result } = resume(started, arrivalOf('a', { ticket: 't' }), 1_000, 1_000);
    expect(result).toBe('in');
    expect(lane.starts).toEqual([{ at: 1_001, count: 1 }]);
    expect(keepWaiting(lane, 'a', 90_000, 1_000)).toBe(lane);
  });

  it('gives up its start once, however often that is noted, and other starts stay counted', () => {
    const others = { ...started, rate: 3, starts: [500, 1_000, 2_000].map((at) => ({ at, count: 1 })) };
    const once = keepWaiting(others, 'a', 90_000, 1_000);
    expect(once.starts.map(({ at }) => at)).toEqual([500, 2_000]);
    expect(keepWaiting(once, 'a', 90_000, 1_000).starts).toEqual(once.starts);
  });

  it('continues only if there is a start for it, and otherwise goes to the front of the line', () => {
    const waiting = { ...keepWaiting(started, 'a', 90_000, 1_000), starts: [{ at: 2_000, count: 1 }] };
    const { lane, result } = resume(joinLine(waiting, 'b'), arrivalOf('a'), undefined, 5_999);
    expect(result).toBe('waits');
    expect([...lane.line.front, ...lane.line.back]).toEqual(['a', 'b']);
    expect(resume(waiting, arrivalOf('a'), undefined, 6_000).result).toBe('in');
  });

  it('arrives anew if it has lost its slot: ahead of the waiting line, without its old start', () => {
    const lost = joinLine(withLease(started, 'a', undefined), 'b');
    const young = arrivalOf('a', { ticket: 't', isYoung: true });
    const { lane, result } = resume(lost, young, 1_000, 2_000);
    expect(result).toBe('in');
    expect(lane.starts).toEqual([{ at: 2_000, count: 1 }]);
    expect(resume(lost, young, undefined, 2_000).result).toBe('waits');
  });
});

describe('the line of a lane', () => {
  const lease = () => ({ slots: 1, until: 70_000 });

  it('starts no attempt if it is empty or there is no capacity', () => {
    expect(grantNext(laneWith({ parallelism: 1 }), lease, 10)).toEqual({ kind: 'none' });
    const full = joinLine(holding(laneWith({ parallelism: 1 }), { until: 50_000 }), 'b');
    expect(grantNext(full, lease, 10)).toEqual({ kind: 'none' });
  });

  it('asks for its oldest page first, and starts the page’s attempts in order', () => {
    const entries = Array.from({ length: 8 }, (_, index) => `e${index}`);
    const long = entries.reduce((lane, entry) => joinLine(lane, entry), laneWith({ parallelism: 2 }));
    const { line, pages } = spill(long.line);
    const lane = joinLine({ ...long, line }, 'last');
    expect(grantNext(lane, lease, 10)).toEqual({ kind: 'page', number: 0 });
    const first = grantNext(withPageRead(lane, pages[0]?.entries ?? []), lease, 10);
    expect(first).toMatchObject({ kind: 'granted', entry: 'e0' });
    expect('lane' in first ? grantNext(first.lane, lease, 10) : first).toMatchObject({ entry: 'e1' });
  });

  it('gives each attempt that it starts a lease, and counts the start', () => {
    const waiting = joinLine(laneWith({ parallelism: 1, rate: 1, periodMs: 1_000 }), 'a');
    const granted = grantNext(waiting, lease, 10);
    if (granted.kind !== 'granted') throw new Error('It was not granted.');
    expect(leaseIn(granted.lane)).toEqual({ slots: 1, until: 70_000, startAt: 10 });
    expect(granted.lane.starts).toEqual([{ at: 10, count: 1 }]);
  });

  it('starts an attempt that is in it twice only once', () => {
    const twice = ['a', 'a', 'b'].reduce(
      (lane, entry) => joinLine(lane, entry),
      laneWith({ parallelism: 2 }),
    );
    const first = grantNext(twice, lease, 10);
    expect(first).toMatchObject({ kind: 'granted', entry: 'a' });
    const second = 'lane' in first ? grantNext(first.lane, lease, 10) : first;
    expect(second.kind).toBe('dropped');
    expect('lane' in second ? grantNext(second.lane, lease, 10) : second).toMatchObject({ entry: 'b' });
  });

  it('skips an attempt that has left, and starts no other in its place', () => {
    const waiting = joinLine(joinLine(laneWith({ parallelism: 1 }), 'a'), 'b');
    const dropped = grantNext(waiting, lease, 10, (entry) => entry === 'a');
    expect(dropped).toMatchObject({ kind: 'dropped', lane: { leases: new Map() } });
    expect('lane' in dropped ? grantNext(dropped.lane, lease, 10) : dropped).toMatchObject({ entry: 'b' });
  });
});
