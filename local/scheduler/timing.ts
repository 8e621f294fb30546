/** Schedule expressions: `at(…)` and `cron(…)` in a time zone. The service does not use `rate(…)`. */
import { ExpressionError, nextCronTime, parseCron } from './cron.ts';
import { isTimeZone, momentAtOrAfter } from './wallClock.ts';

/** A schedule's times, in epoch milliseconds. */
export type Timing =
  | { readonly kind: 'once'; readonly at: number }
  /** `next` returns the first time after a moment, if any. */
  | { readonly kind: 'recurring'; readonly next: (after: number) => number | undefined };

/** @throws ExpressionError */
export function parseTiming(expression: string, zone: string): Timing {
  if (!isTimeZone(zone)) throw new ExpressionError(`there is no time zone '${zone}'`);
  const [, kind, inner = ''] = /^(at|cron)\((.*)\)$/.exec(expression) ?? [];
  switch (kind) {
    case 'at':
      return { kind: 'once', at: momentAtOrAfter(zone, parseAt(inner)) };
    case 'cron': {
      const cron = parseCron(inner);
      return { kind: 'recurring', next: (after) => nextCronTime(cron, zone, after) };
    }
    default:
      throw new ExpressionError("the local stage's are at(yyyy-mm-ddThh:mm:ss) and cron(fields)");
  }
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
