/** Schedule expressions: `at(…)` and `cron(…)` with a time zone. The service does not use `rate(…)`. */
import { dayMs } from '../../lambdas/shared/clock.ts';
import { wallClock, zoneName, type WallClock } from '../../lambdas/value/wallClock.ts';
import { ExpressionError, nextCronTime, parseCron } from './cron.ts';

/** A schedule's times. */
export type Timing =
  | { readonly kind: 'once'; readonly at: number }
  /** `next` returns the first time after a moment, if there is one. */
  | { readonly kind: 'recurring'; readonly next: (after: number) => number | undefined };

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

/** UTC without a look-up: most schedules use it, and a start may read a million. */
const utc: WallClock = { wallAt: (time) => time, firstTimeOf: (wall) => wall };

/** If a clock change skips a local time, the time is moved forward by the same amount. */
function momentAtOrAfter({ firstTimeOf, wallAt }: WallClock, wall: number): number {
  const dayBefore = wall - dayMs;
  return firstTimeOf(wall) ?? wall - (wallAt(dayBefore) - dayBefore);
}

/** The local time, written as if it were UTC. */
function parseAt(text: string): number {
  const wall = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d$/.test(text) ? Date.parse(`${text}Z`) : NaN;
  // `Date.parse` accepts 30 February as 1 or 2 March.
  if (Number.isNaN(wall) || new Date(wall).toISOString() !== `${text}.000Z`) {
    throw new ExpressionError(`'${text}' is no time of the form yyyy-mm-ddThh:mm:ss`);
  }
  return wall;
}
