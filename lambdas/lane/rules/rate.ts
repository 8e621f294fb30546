/** A lane's rate: the starts allowed in any span of its period. */

import { secondMs } from '../../shared/clock.ts';
import { defaultPeriod } from '../../value/flowControl.ts';

/** The number of attempts that started at a time. */
export interface Starts {
  readonly at: number;
  readonly count: number;
}

interface Rated {
  readonly rate?: number | undefined;
  readonly periodMs?: number | undefined;
  readonly starts: readonly Starts[];
}

/** A longer list is shortened: the two closest times become one, the later. */
const mostStarts = 24;

export const periodOf = ({ periodMs }: Pick<Rated, 'periodMs'>): number =>
  periodMs ?? defaultPeriod * secondMs;

export const recentStarts = (lane: Rated, now: number): readonly Starts[] =>
  lane.rate === undefined ? [] : lane.starts.filter(({ at }) => at > now - periodOf(lane));

export const startsInPeriod = (lane: Rated, now: number): number =>
  recentStarts(lane, now).reduce((sum, { count }) => sum + count, 0);

export const freeStarts = (lane: Rated, now: number): number =>
  lane.rate === undefined ? Infinity : Math.max(0, lane.rate - startsInPeriod(lane, now));

/** When the rate allows another start, after those counted in advance: at least `now`. */
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

/**
 * How late a start may be without being counted again: a tenth of the shortest period. Its job goes through
 * SQS.
 */
export const startToleranceMs = 100;

/** @param at Unix milliseconds; in the future if the start is counted before it is made */
export function countStart<T extends Rated>(lane: T, at: number): T {
  if (lane.rate === undefined) return lane;
  const same = lane.starts.find((one) => one.at === at)?.count ?? 0;
  const starts = [
    ...lane.starts.filter((one) => one.at < at),
    { at, count: same + 1 },
    ...lane.starts.filter((one) => one.at > at),
  ];
  if (starts.length <= mostStarts) return { ...lane, starts };
  // Merging at the later time never exceeds the rate.
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
 * Removes a start that was counted but not made.
 *
 * @param at when it was counted; undefined if it was not
 */
export function uncountStart<T extends Rated>(lane: T, at: number | undefined): T {
  const [first] = lane.starts;
  if (at === undefined || first === undefined || at < first.at) return lane;
  // The start's time may have been merged with a later one.
  const counted = lane.starts.find((one) => one.at >= at);
  const starts = lane.starts.flatMap((one): Starts[] => {
    if (one !== counted) return [one];
    return one.count > 1 ? [{ at: one.at, count: one.count - 1 }] : [];
  });
  return { ...lane, starts };
}
