/** The rate of a lane: the starts that are allowed within any span of its period. */

import { secondMs } from '../../shared/clock.ts';
import { defaultPeriod } from '../../value/flowControl.ts';

/** The number of attempts that started at one moment, in Unix milliseconds. */
export interface Starts {
  readonly at: number;
  readonly count: number;
}

/** A lane's rate, and the starts that count against it. */
interface Rated {
  readonly rate?: number | undefined;
  readonly periodMs?: number | undefined;
  /** The starts of the last period, and those that are counted ahead; the oldest first. */
  readonly starts: readonly Starts[];
}

/** The most moments of starts that a row keeps. Of more, two that are close become one, at the later moment. */
const mostStarts = 24;

export const periodOf = ({ periodMs }: Pick<Rated, 'periodMs'>): number =>
  periodMs ?? defaultPeriod * secondMs;

/** The starts that still count. */
export const recentStarts = (lane: Rated, now: number): readonly Starts[] =>
  lane.rate === undefined ? [] : lane.starts.filter(({ at }) => at > now - periodOf(lane));

export const startsInPeriod = (lane: Rated, now: number): number =>
  recentStarts(lane, now).reduce((sum, { count }) => sum + count, 0);

/** Counts the starts that the rate allows now; Infinity without a rate. */
export const freeStarts = (lane: Rated, now: number): number =>
  lane.rate === undefined ? Infinity : Math.max(0, lane.rate - startsInPeriod(lane, now));

/** Finds when the rate allows one more start, beside those that are counted ahead: Unix milliseconds, `now` at the earliest. */
export function nextFreeStart(lane: Rated, now: number): number {
  const { rate = Infinity } = lane;
  let at = now;
  let left = startsInPeriod(lane, now);
  for (const start of recentStarts(lane, now)) {
    if (left < rate) break;
    left -= start.count;
    at = start.at + periodOf(lane);
  }
  return at;
}

/** A start may be this much later than it was counted, for its job comes through SQS: a tenth of the shortest period. */
export const startToleranceMs = 100;

/**
 * Counts a start.
 *
 * @param at Unix milliseconds; later than now where it is counted ahead
 */
export function countStart<T extends Rated>(lane: T, at: number): T {
  if (lane.rate === undefined) return lane;
  const same = lane.starts.find((one) => one.at === at)?.count ?? 0;
  const starts = [
    ...lane.starts.filter((one) => one.at < at),
    { at, count: same + 1 },
    ...lane.starts.filter((one) => one.at > at),
  ];
  if (starts.length <= mostStarts) return { ...lane, starts };
  // The two that are closest in time become one, at the later moment: the rate is never exceeded by that.
  let closest = 1;
  for (let index = 2; index < starts.length; index += 1) {
    const gap = (place: number): number => (starts[place]?.at ?? 0) - (starts[place - 1]?.at ?? 0);
    if (gap(index) < gap(closest)) closest = index;
  }
  const merged = starts.flatMap((one, index): Starts[] => {
    if (index === closest - 1) return [];
    return index === closest ? [{ at: one.at, count: one.count + (starts[index - 1]?.count ?? 0) }] : [one];
  });
  return { ...lane, starts: merged };
}

/**
 * Takes back a start that was counted and not made. Otherwise a late attempt would use up two starts of the period.
 *
 * @param at when the start was counted, Unix milliseconds; undefined for one that was not
 */
export function uncountStart<T extends Rated>(lane: T, at: number | undefined): T {
  const [first] = lane.starts;
  if (at === undefined || first === undefined || at < first.at) return lane;
  // The moment of the start may have become one with a later moment: the start is then counted there.
  const counted = lane.starts.find((one) => one.at >= at);
  const starts = lane.starts.flatMap((one): Starts[] => {
    if (one !== counted) return [one];
    return one.count > 1 ? [{ at: one.at, count: one.count - 1 }] : [];
  });
  return { ...lane, starts };
}
