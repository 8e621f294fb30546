/** The fires that a schedule missed, and makes up for with `Svc-Catch-Up`. */
import { badField, quote } from '../../error/httpError.ts';
import { dayMs } from '../../shared/clock.ts';

export const catchUps = ['1', 'all'] as const;
export type CatchUp = (typeof catchUps)[number];

/** Fires that `all` makes up for. */
const mostMissed = 100;
/** The row of a fire is kept for 16 days. Older fires could come twice. */
const longestAgoMs = 14 * dayMs;

/** @throws HttpError 400 */
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
 * Finds the missed fires to make up for: the last one, or the last 100, of the last 14 days.
 *
 * @param fires the times at which the schedule fires after a moment, in order
 * @param since Unix milliseconds of the last fire that was made, or from which on the schedule counts
 * @param until Unix milliseconds; a fire of this moment is not missed
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
