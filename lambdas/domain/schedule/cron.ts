/**
 * Five-field cron with a zone (`Svc-Cron`), as Amazon EventBridge Scheduler is to run it. `docs/cron.md` is the table of what
 * is supported. The console reads expressions with this file, too: it needs nothing but the language.
 */
import { readFields, type CronFields, type Refuse } from './cronFields.ts';
import { schedulerExpressions } from './schedulerExpression.ts';
import { wallClock, zoneName } from './wallClock.ts';
import { dayMs, hourMs, minuteMs } from '../clock.ts';
import { badRequest, quote } from '../httpError.ts';

export interface Cron {
  /** As given, trimmed. */
  readonly text: string;
  /** A name of the IANA time zone database; `UTC` where none was given. */
  readonly timezone: string;
  /** One or two, each `cron(minutes hours day-of-month month day-of-week *)`. It fires when either does. */
  readonly schedulerExpressions: readonly string[];
  readonly fields: CronFields;
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

/** More than every value of every field spelled out. */
const longestText = 500;

/**
 * Reads `CRON_TZ=<zone>` and five fields, or a word such as `@daily`.
 *
 * @param field the header's name, for the error's text
 * @throws HttpError 400 that names the field of the expression, or the zone
 */
export function parseCron(field: string, given: string): Cron {
  const text = given.trim();
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

  const texts = (nicknames.get(expression.toLowerCase()) ?? expression).split(/\s+/);
  if (texts.length !== 5) {
    let problem = `the number of its fields is ${texts.length}`;
    if (expression === '') problem = 'there is no expression';
    else if (expression.startsWith('@')) problem = `the word ${quote(expression)} is unknown`;
    throw refuse(
      problem,
      'are five fields (minute, hour, day of month, month, day of week; none for seconds, since a schedule fires ' +
        `at most once a minute) or one of ${[...nicknames.keys()].join(', ')}, and CRON_TZ=<zone> before them`,
    );
  }

  const fields = readFields(texts, refuse);
  const expressions = schedulerExpressions(fields);
  if (expressions.length === 0) {
    throw refuse(
      `the day of month ${quote(texts[2] ?? '')} never comes in the month ${quote(texts[3] ?? '')}`,
      'in the day of month field is a day that one of the months has',
    );
  }
  return { text, timezone, schedulerExpressions: expressions, fields };
}

/**
 * Gives the times at which a schedule fires, in Unix milliseconds and in order, from the first one after `after` on.
 *
 * At a change of the clocks this is what EventBridge Scheduler documents
 * (https://docs.aws.amazon.com/scheduler/latest/UserGuide/schedule-types.html#daylist-savings-time), whatever the
 * expression: a time that the clocks skip is skipped, and one that they show twice fires "only once ... before the
 * shift occurs".
 */
export function* fires(cron: Cron, after: number): Generator<number, undefined> {
  const clock = wallClock(cron.timezone);
  for (const wall of walls(cron.fields, clock.wallAt(after))) {
    const time = clock.firstTimeOf(wall);
    if (time !== undefined && time > after) yield time;
  }
  return undefined;
}

/** Here the calendar ends, in Unix milliseconds: a search for what never comes must end, too. */
const calendarEnd = Date.UTC(3000, 0);

/** Gives the wall times that fields match, in order, from the first one after `after` on. */
function* walls({ minutes, hours, ...days }: CronFields, after: number): Generator<number, undefined> {
  for (let day = Math.floor(after / dayMs) * dayMs; day < calendarEnd; day += dayMs) {
    if (!isMatched(days, new Date(day))) continue;
    for (const hour of hours) {
      for (const minute of minutes) {
        const wall = day + hour * hourMs + minute * minuteMs;
        if (wall > after) yield wall;
      }
    }
  }
  return undefined;
}

/** Whether a day, at 00:00 UTC, is one of an expression's. Where both date and weekday are restricted, either is enough. */
function isMatched({ dates, months, weekdays }: Omit<CronFields, 'minutes' | 'hours'>, day: Date): boolean {
  if (!months.includes(day.getUTCMonth() + 1)) return false;
  if (dates === undefined && weekdays === undefined) return true;
  return dates?.includes(day.getUTCDate()) === true || weekdays?.includes(day.getUTCDay()) === true;
}

/** Finds the first time after `after` at which a schedule fires, in Unix milliseconds; undefined when it never does again. */
export function nextFire(cron: Cron, after: number): number | undefined {
  return fires(cron, after).next().value;
}
