/**
 * Translates cron expressions to Amazon EventBridge Scheduler's, by "Schedule types in EventBridge
 * Scheduler", https://docs.aws.amazon.com/scheduler/latest/UserGuide/schedule-types.html#cron-based:
 *
 * - `cron(minutes hours day-of-month month day-of-week year)`; the values are 0-59, 0-23, 1-31, 1-12, 1-7
 * from Sunday, and 1970-2199.
 * - `, - * /` in every field, but no `/` in day-of-week. A step is a start and an increment, as in `1/10`.
 * - One of the day fields must be `?`. To fire on a day of the month and on a weekday, two expressions are
 * needed.
 *
 * Scheduler accepts at most 256 characters (`ScheduleExpression` in the API's model). Wrapping ranges and
 * steps in ranges are not in the guide. Lists contain ranges only if the expression would be too long
 * otherwise.
 */
import type { CronPattern } from 'croner';

const monthLengths = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31] as const;
const longestExpression = 256;

/**
 * @returns one expression; two if both day fields are restricted, because cron fires if either matches (a minute in both fires
 *   once); none if the day does not exist, such as 30 February
 */
export function schedulerExpressions(pattern: CronPattern): readonly string[] {
  const minutes = valuesOf(pattern.minute, 0);
  const hours = valuesOf(pattern.hour, 0);
  const dates = valuesOf(pattern.day, 1);
  const months = valuesOf(pattern.month, 1);
  const weekdays = valuesOf(pattern.dayOfWeek, 1);

  const write = (days: 'every' | 'dates' | 'weekdays'): string => {
    const spell = (list: (values: readonly number[]) => string): string => {
      const text = (values: readonly number[], min: number, max: number, steps = true): string =>
        fieldText(values, min, max, steps, list);
      const date = { every: '*', dates: text(dates, 1, 31), weekdays: '?' }[days];
      const weekday = days === 'weekdays' ? text(weekdays, 1, 7, false) : '?';
      return `cron(${text(minutes, 0, 59)} ${text(hours, 0, 23)} ${date} ${text(months, 1, 12)} ${weekday} *)`;
    };
    const plain = spell((values) => values.join(','));
    return plain.length <= longestExpression ? plain : spell(listOfRanges);
  };

  const everyDate = dates.length === 31;
  const everyWeekday = weekdays.length === 7;
  const either = !pattern.starDOM && !pattern.starDOW;
  if (either ? everyDate || everyWeekday : everyDate && everyWeekday) return [write('every')];

  const comes = months.some((month) => dates.some((date) => date <= (monthLengths[month - 1] ?? 0)));
  return [...(!everyDate && comes ? [write('dates')] : []), ...(everyWeekday ? [] : [write('weekdays')])];
}

function valuesOf(flags: readonly number[], min: number): readonly number[] {
  return flags.flatMap((flag, index) => (flag > 0 ? [index + min] : []));
}

function fieldText(
  values: readonly number[],
  min: number,
  max: number,
  steps: boolean,
  list: (values: readonly number[]) => string,
): string {
  const [first = min, second = first] = values;
  const step = second - first;
  const evenly = values.every((value, index) => value === first + index * step);
  if (values.length < 3) return values.join(',');
  if (values.length === max - min + 1) return '*';
  if (evenly && step === 1) return listOfRanges(values);
  if (evenly && steps && first + values.length * step > max) return `${first}/${step}`;
  return list(values);
}

/** Writes 1, 2, 3, 5, 8 and 9 as `1-3,5,8,9`. */
function listOfRanges(values: readonly number[]): string {
  const runs: { first: number; last: number }[] = [];
  for (const value of values) {
    const run = runs.at(-1);
    if (run?.last === value - 1) run.last = value;
    else runs.push({ first: value, last: value });
  }
  return runs
    .map(({ first, last }) => {
      if (first === last) return String(first);
      return last - first === 1 ? `${first},${last}` : `${first}-${last}`;
    })
    .join(',');
}
