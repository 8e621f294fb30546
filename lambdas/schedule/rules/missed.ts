/** Missed fires, which `Svc-Catch-Up` sends later. */
import { badField, quote } from '../../error/httpError.ts';
import { dayMs } from '../../shared/clock.ts';

const catchUps = ['1', 'all'] as const;
export type CatchUp = (typeof catchUps)[number];

const mostMissed = 100;
/** The row of a fire is kept for 16 days. An older fire could be published twice. */
const longestAgoMs = 14 * dayMs;

export function parseCatchUp(field: string, value: string): CatchUp {
  const read = catchUps.find((known) => known === value.toLowerCase());
  if (read === undefined) {
    throw badField(
      `${field} is ${quote(value)}; allowed are 1 for the last missed fire, and all for the last ${mostMissed}.`,
    );
  }
  return read;
}

/**
 * Finds the missed fires to send: the last one, or the last 100, of the last 14 days.
 *
 * @param fires the schedule's fires after a time, in order
 * @param since the last fire that was handled, or the schedule's start
 * @param until Unix milliseconds, exclusive
 */
export function missedFires(
  catchUp: CatchUp,
  fires: (after: number) => Iterable<number>,
  since: number,
  until: number,
): readonly number[] {
  const most = catchUp === '1' ? 1 : mostMissed;
  let missed: number[] = [];
  for (const time of fires(Math.max(since, until - longestAgoMs))) {
    if (time >= until) break;
    missed.push(time);
    if (missed.length > 2 * most) missed = missed.slice(-most);
  }
  return missed.slice(-most);
}
