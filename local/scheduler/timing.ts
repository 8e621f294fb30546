/** Schedule expressions: `at(…)` and `cron(…)` in a time zone. The service does not use `rate(…)`. */
import { dayMs } from '../../lambdas/shared/clock.ts';
import { wallClock, zoneName, type WallClock } from '../../lambdas/value/wallClock.ts';
import { ExpressionError, nextCronTime, parseCron } from './cron.ts';

/** A schedule's times, in epoch milliseconds. */
export type Timing =
  | { readonly kind: 'once'; readonly at: number }
  /** `next` returns the first time after a moment, if any. */
  | { readonly kind: 'recurring'; readonly next: (after: number) => number | undefined };

/** @throws ExpressionError */
export function parseTiming(expression: string, zone: string): Timing {
  const clock = clockOf(zone);
  const [, kind, inner = ''] = /^(at|cron)\((.*)\)$/.exec(expression) ?? [];
  switch (kind) {
    case 'at':
      return { kind: 'once', at: momentAtOrAfter(clock, parseAt(inner)) };
    case 'cron': {
      const cron = parseCron(inner);
      return { kind: 'recurring', next: (after) => nextCronTime(cron, clock, after) };
    }
    default:
      throw new ExpressionError("the local stage's are at(yyyy-mm-ddThh:mm:ss) and cron(fields)");
  }
}

const clocks = new Map<string, WallClock>();

/** @throws ExpressionError if the zone does not exist */
function clockOf(zone: string): WallClock {
  const known = clocks.get(zone);
  if (known !== undefined) return known;
  if (zoneName(zone) === undefined) throw new ExpressionError(`there is no time zone '${zone}'`);
  const clock = zone === 'UTC' ? utc : wallClock(zone);
  clocks.set(zone, clock);
  return clock;
}

/** Most schedules have this zone. A start may read a million of them. */
const utc: WallClock = { wallAt: (time) => time, firstTimeOf: (wall) => wall };

/** A wall time that a clock change skips is moved forward by as much as the clocks. */
function momentAtOrAfter({ firstTimeOf, wallAt }: WallClock, wall: number): number {
  const dayBefore = wall - dayMs;
  return firstTimeOf(wall) ?? wall - (wallAt(dayBefore) - dayBefore);
}

/** The wall time, written as if it were UTC. */
function parseAt(text: string): number {
  const wall = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d$/.test(text) ? Date.parse(`${text}Z`) : NaN;
  // Date.parse accepts 30 February as 1 or 2 March.
  if (Number.isNaN(wall) || new Date(wall).toISOString() !== `${text}.000Z`) {
    throw new ExpressionError(`'${text}' is no time of the form yyyy-mm-ddThh:mm:ss`);
  }
  return wall;
}
