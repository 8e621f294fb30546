import type { CronFields } from './cronFields.ts';

/** More times of a day than these are said as steps and ranges. */
const mostTimes = 6;

/**
 * Says in a sentence when an expression fires: `At 09:00, on Monday to Friday.` The times are those of the expression's zone.
 */
export function inWords(fields: CronFields): string {
  const { months } = fields;
  const parts = [
    timesOf(fields),
    daysOf(fields),
    months.length < 12 && `in ${list(ranges(months, monthName, 12))}`,
  ];
  const text = parts.filter(Boolean).join(', ');
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}

function timesOf({ minutes, hours }: CronFields): string {
  const [minute = 0] = minutes;
  const step = stepOf(minutes, 60);
  const hourStep = stepOf(hours, 24);
  if (minutes.length === 1 && hourStep !== undefined) {
    const every = hourStep === 1 ? 'every hour' : `every ${hourStep} hours`;
    return minute === 0 ? every : `${every}, at minute ${minute}`;
  }
  if (minutes.length * hours.length <= mostTimes) {
    return `at ${list(hours.flatMap((hour) => minutes.map((one) => clock(hour, one))))}`;
  }
  const hourRuns = runsOf(hours);
  const [run, ...others] = hourRuns;
  if (minutes.length === 1 && run !== undefined && others.length === 0) {
    return `every hour from ${clock(run[0], minute)} to ${clock(run[1], minute)}`;
  }
  let text = `at ${minutes.length === 1 ? 'minute' : 'minutes'} ${list(ranges(minutes, String))}`;
  if (step !== undefined) text = step === 1 ? 'every minute' : `every ${step} minutes`;
  else if (hourStep === 1) text += ' of every hour';
  return hourStep === 1
    ? text
    : `${text}, from ${list(hourRuns.map(([first, last]) => `${clock(first, 0)} to ${clock(last, 59)}`))}`;
}

function daysOf({ dates, weekdays, hours }: CronFields): string {
  const onDates =
    dates && `on ${dates.length === 1 ? 'day' : 'days'} ${list(ranges(dates, String))} of the month`;
  // Sunday is the last day of a week, as people say it.
  const days = weekdays?.map((day) => day || 7).sort((a, b) => a - b);
  const onWeekdays = days && `on ${list(ranges(days, weekdayName, 7))}`;
  if (onDates !== undefined && onWeekdays !== undefined) return `${onDates} and also ${onWeekdays}`;
  return onDates ?? onWeekdays ?? (hours.length === 24 ? '' : 'every day');
}

const list = (texts: readonly string[]): string => new Intl.ListFormat('en-GB').format(texts);
const clock = (hour: number, minute: number): string =>
  `${String(hour).padStart(2, '0')}:${String(minute).padStart(2, '0')}`;
const named = (month: number, day: number, part: 'month' | 'weekday'): string =>
  new Date(Date.UTC(2023, month, day)).toLocaleDateString('en', { [part]: 'long', timeZone: 'UTC' });
const monthName = (month: number): string => named(month - 1, 1, 'month');
/** The first day of 2023 was a Sunday. */
const weekdayName = (day: number): string => named(0, 1 + day, 'weekday');

/** The step in which values go through all of a field from 0 on, evenly; undefined where they do not. */
function stepOf(values: readonly number[], size: number): number | undefined {
  const step = size / values.length;
  const isEven = values.length > 1 && values.every((value, index) => value === index * step);
  return isEven ? step : undefined;
}

/** Values that follow each other: 1, 2, 3 and 7 are 1 to 3, and 7 to 7. */
function runsOf(values: readonly number[]): readonly (readonly [first: number, last: number])[] {
  const runs: [first: number, last: number][] = [];
  for (const value of values) {
    const run = runs.at(-1);
    if (run?.[1] === value - 1) run[1] = value;
    else runs.push([value, value]);
  }
  return runs;
}

/**
 * Says values with their ranges. Those of a cycle, such as the 7 days of a week from 1 on, may go from its end to its
 * beginning.
 */
function ranges(
  values: readonly number[],
  nameOf: (value: number) => string,
  cycle = Infinity,
): readonly string[] {
  const [first, ...others] = runsOf(values);
  const last = others.at(-1);
  const isAround = first?.[0] === 1 && last?.[1] === cycle;
  const runs = isAround ? [...others.slice(0, -1), [last[0], first[1] + cycle]] : [first ?? [], ...others];
  return runs.flatMap(([from = 0, to = from]) => {
    const names = [from, to].map((value) => nameOf(value > cycle ? value - cycle : value));
    if (to - from > 1) return names.join(' to ');
    return to === from ? names.slice(1) : names;
  });
}
