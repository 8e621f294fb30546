/** Schedule expressions: `at(…)`, `rate(…)` and `cron(…)`. */
import { ExpressionError, nextCronTime, parseCron } from './schedulerCron.ts';
import { isTimeZone, momentAtOrAfter } from './wallClock.ts';

/** When a schedule fires; all times are epoch milliseconds. */
export type Timing = { readonly kind: 'once'; readonly at: number } | RecurringTiming;

export interface RecurringTiming {
  readonly kind: 'rate' | 'cron';
  /** The first time after a moment. */
  readonly next: (after: number) => number | undefined;
}

/**
 * @param firstRate when a rate has its first time
 * @throws ExpressionError
 */
export function parseTiming(expression: string, zone: string, firstRate: number): Timing {
  if (!isTimeZone(zone)) throw new ExpressionError(`there is no time zone '${zone}'`);
  const [, kind, inner = ''] = /^(at|rate|cron)\((.*)\)$/.exec(expression) ?? [];
  switch (kind) {
    case 'at':
      return { kind: 'once', at: momentAtOrAfter(zone, parseAt(inner)) };
    case 'rate': {
      const everyMs = parseRate(inner);
      return { kind: 'rate', next: (after) => nextRateTime(firstRate, everyMs, after) };
    }
    case 'cron': {
      const cron = parseCron(inner);
      return { kind: 'cron', next: (after) => nextCronTime(cron, zone, after) };
    }
    default:
      throw new ExpressionError('it is at(yyyy-mm-ddThh:mm:ss), rate(value unit) or cron(fields)');
  }
}

function parseAt(text: string): number {
  const wall = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d$/.test(text) ? Date.parse(`${text}Z`) : NaN;
  // Date.parse takes the 30th of February for the 1st or 2nd of March.
  if (Number.isNaN(wall) || new Date(wall).toISOString() !== `${text}.000Z`) {
    throw new ExpressionError(`'${text}' is no time of the form yyyy-mm-ddThh:mm:ss`);
  }
  return wall;
}

const unitMs = new Map([
  ['minute', 60_000],
  ['hour', 3_600_000],
  ['day', 86_400_000],
]);

function parseRate(text: string): number {
  const [, value, unit = ''] = /^(\d{1,9}) (minute|hour|day)s?$/.exec(text) ?? [];
  const everyMs = Number(value) * (unitMs.get(unit) ?? NaN);
  if (!(everyMs > 0)) {
    throw new ExpressionError(`'${text}' is no positive number of minutes, hours or days`);
  }
  return everyMs;
}

function nextRateTime(first: number, everyMs: number, after: number): number {
  return after < first ? first : first + (Math.floor((after - first) / everyMs) + 1) * everyMs;
}
