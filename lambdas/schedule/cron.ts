/**
 * Five-field cron with a zone (`Svc-Cron`), for Amazon EventBridge Scheduler. croner parses the fields and
 * finds the times. This file translates them and handles clock changes (see `docs/publishing.md`).
 */
import { Cron as Calendar, CronPattern } from 'croner';
import { plainFields, type Refuse } from './rules/cronFields.ts';
import { schedulerExpressions } from './rules/schedulerExpression.ts';
import { wallClock, zoneName } from '../value/wallClock.ts';
import { badRequest, quote } from '../error/httpError.ts';
import { recentlyUsed } from '../shared/recentlyUsed.ts';

export interface Cron {
  /** The expression as given, trimmed. */
  readonly text: string;
  /** An IANA time zone; `UTC` by default. */
  readonly timezone: string;
  /**
   * One or two, each `cron(minutes hours day-of-month month day-of-week *)`. The schedule fires at the times
   * of both.
   */
  readonly schedulerExpressions: readonly string[];
  /** The five fields as given, or those of a word such as `@daily`. */
  readonly fields: string;
  readonly pattern: string;
}

const nicknames: ReadonlyMap<string, string> = new Map([
  ['@hourly', '0 * * * *'],
  ['@daily', '0 0 * * *'],
  ['@midnight', '0 0 * * *'],
  ['@weekly', '0 0 * * 0'],
  ['@monthly', '0 0 1 * *'],
  ['@yearly', '0 0 1 1 *'],
  ['@annually', '0 0 1 1 *'],
]);

/** The most characters: longer than a list of every value of every field. */
const longestText = 500;

const parsed = new Map<string, Cron>();

/**
 * Parses `CRON_TZ=<zone>` and five fields, or a word such as `@daily`.
 *
 * @throws HttpError 400 that names the wrong field or zone
 */
export const parseCron = (field: string, given: string): Cron =>
  recentlyUsed(parsed, given.trim(), () => parse(field, given.trim()));

function parse(field: string, text: string): Cron {
  const refuse: Refuse = (problem, allowed) =>
    badRequest('cron_invalid', `${field} is ${quote(text)}: ${problem}. Allowed ${allowed}.`);
  if (text.length > longestText) {
    throw refuse(`it has ${text.length} characters`, `are ${longestText}`);
  }

  const [, zone, expression = ''] = /^(?:CRON_TZ=(\S*)\s*)?(.*)$/s.exec(text) ?? [];
  const timezone = zone === undefined ? 'UTC' : zoneName(zone);
  if (timezone === undefined) {
    throw refuse(
      `the zone ${quote(zone ?? '')} is unknown`,
      'is a name of the IANA time zone database, as in CRON_TZ=Europe/Berlin',
    );
  }

  const fields = (nicknames.get(expression.toLowerCase()) ?? expression).split(/\s+/);
  if (fields.length !== 5) {
    let problem = `the number of its fields is ${fields.length}`;
    if (expression === '') problem = 'there is no expression';
    else if (expression.startsWith('@')) problem = `the word ${quote(expression)} is unknown`;
    throw refuse(
      problem,
      'are five fields (minute, hour, day of month, month, day of week; none for seconds, since a schedule fires ' +
        `at most once a minute) or one of ${[...nicknames.keys()].join(', ')}, and CRON_TZ=<zone> before them`,
    );
  }

  const pattern = plainFields(fields, refuse);
  const expressions = schedulerExpressions(new CronPattern(pattern, undefined, { mode: '5-part' }));
  if (expressions.length === 0) {
    throw refuse(
      `the day of month ${quote(fields[2] ?? '')} never comes in the month ${quote(fields[3] ?? '')}`,
      'in the day of month field is a day that one of the months has',
    );
  }
  return { text, timezone, schedulerExpressions: expressions, fields: fields.join(' '), pattern };
}

/**
 * Yields a schedule's fires after `after`, in order, as.
 *
 * At clock changes it does what EventBridge Scheduler does
 * (https://docs.aws.amazon.com/scheduler/latest/UserGuide/schedule-types.html#daylist-savings-time): a time
 * that does not exist is skipped, and a time that occurs twice fires "only once ... before the shift occurs".
 * croner does otherwise, so here it gets local times without a zone.
 */
export function* fires(cron: Cron, after: number): Generator<number, undefined> {
  const clock = wallClock(cron.timezone);
  const calendar = new Calendar(cron.pattern, { mode: '5-part', utcOffset: 0 });
  let wall = nextWall(calendar, new Date(clock.wallAt(after)));
  while (wall !== null) {
    const time = clock.firstTimeOf(wall.getTime());
    if (time !== undefined && time > after) yield time;
    wall = nextWall(calendar, wall);
  }
  return undefined;
}

/**
 * croner 11 reads 31 February as 2 or 3 March and continues from there, so `0 0 1,31 * *` would miss 1 March.
 * If it leaves February, the search is repeated from February's last second.
 */
function nextWall(calendar: Calendar, wall: Date): Date | null {
  const next = calendar.nextRun(wall);
  const march = Date.UTC(wall.getUTCFullYear(), 2);
  if (next === null || wall.getTime() >= march || next.getTime() < march) return next;
  return calendar.nextRun(new Date(march - 1000));
}

/** The last result. It is also the next fire after any time between `after` and `time`. */
const lastFound = new WeakMap<Cron, { readonly after: number; readonly time: number | undefined }>();

/** The first fire after `after`, if any. */
export function nextFire(cron: Cron, after: number): number | undefined {
  const last = lastFound.get(cron);
  if (last?.time !== undefined && last.after <= after && after < last.time) return last.time;
  const time = fires(cron, after).next().value;
  lastFound.set(cron, { after, time });
  return time;
}
