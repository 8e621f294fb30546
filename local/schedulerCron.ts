/**
 * EventBridge Scheduler's dialect of cron, as its user guide ("Schedule types", "Cron-based schedules") documents it:
 * six fields, days of the week from 1 = Sunday, exactly one `?` in the two day fields, and the wildcards `L`, `W` and
 * `#`. What the guide does not show, such as ranges that wrap around, is refused.
 */
import { momentOf, wallTimeAt } from './wallClock.ts';

export interface Cron {
  readonly minutes: readonly number[];
  readonly hours: readonly number[];
  /** Days of a month, the month counted from 1, in their order. */
  readonly days: (year: number, month: number) => readonly number[];
  readonly months: readonly number[];
  readonly years: readonly number[];
}

/** Says what is wrong with an expression. */
export class ExpressionError extends Error {}

interface Field {
  readonly name: string;
  readonly min: number;
  readonly max: number;
  /** For the values from `min` on. */
  readonly names?: readonly string[];
}

const fields = {
  minutes: { name: 'minutes', min: 0, max: 59 },
  hours: { name: 'hours', min: 0, max: 23 },
  dayOfMonth: { name: 'day-of-month', min: 1, max: 31 },
  month: {
    name: 'month',
    min: 1,
    max: 12,
    names: ['JAN', 'FEB', 'MAR', 'APR', 'MAY', 'JUN', 'JUL', 'AUG', 'SEP', 'OCT', 'NOV', 'DEC'],
  },
  dayOfWeek: {
    name: 'day-of-week',
    min: 1,
    max: 7,
    names: ['SUN', 'MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT'],
  },
  year: { name: 'year', min: 1970, max: 2199 },
} as const satisfies Record<string, Field>;

/**
 * @param text the six fields, without `cron(` and `)`
 * @throws ExpressionError
 */
export function parseCron(text: string): Cron {
  const parts = text.trim().split(/\s+/);
  const [minutes, hours, dayOfMonth, month, dayOfWeek, year] = parts;
  if (
    minutes === undefined ||
    hours === undefined ||
    dayOfMonth === undefined ||
    month === undefined ||
    dayOfWeek === undefined ||
    year === undefined ||
    parts.length > 6
  ) {
    throw new ExpressionError(`a cron expression has 6 fields, this one has ${parts.length}`);
  }
  return {
    minutes: valuesOf(minutes, fields.minutes),
    hours: valuesOf(hours, fields.hours),
    days: daysOf(dayOfMonth, dayOfWeek),
    months: valuesOf(month, fields.month),
    years: valuesOf(year, fields.year),
  };
}

/**
 * The first time after a moment, both in epoch milliseconds. A wall time that clocks skip does not fire, and one that
 * they show twice fires the first time only.
 *
 * @returns undefined when there is none until the end of 2199
 */
export function nextCronTime(cron: Cron, zone: string, after: number): number | undefined {
  const from = Math.floor(wallTimeAt(zone, after) / minuteMs) * minuteMs;
  for (const wall of wallTimes(cron, from)) {
    const moment = momentOf(zone, wall);
    if (moment !== undefined && moment > after) return moment;
  }
  return undefined;
}

const minuteMs = 60_000;
const dayMs = 86_400_000;

function* wallTimes(cron: Cron, from: number): Generator<number> {
  for (const year of cron.years) {
    if (Date.UTC(year + 1, 0) <= from) continue;
    for (const month of cron.months) {
      if (Date.UTC(year, month) <= from) continue;
      for (const day of cron.days(year, month)) {
        const midnight = Date.UTC(year, month - 1, day);
        if (midnight + dayMs <= from) continue;
        for (const hour of cron.hours) {
          for (const minute of cron.minutes) {
            const wall = midnight + (60 * hour + minute) * minuteMs;
            if (wall >= from) yield wall;
          }
        }
      }
    }
  }
}

/** The values of a field that is `*` or a list of values, ranges and steps, in their order. */
function valuesOf(text: string, field: Field): number[] {
  const values = new Set(text.split(',').flatMap((item) => itemValues(item, text, field)));
  return [...values].sort((a, b) => a - b);
}

function itemValues(item: string, text: string, field: Field): number[] {
  const [span = '', step, ...more] = item.split('/');
  if (more.length > 0 || (span === '*' && text !== item)) throw wrong(text, field);
  const [first = '', last, ...rest] = span.split('-');
  if (rest.length > 0) throw wrong(text, field);
  const from = first === '*' && last === undefined ? field.min : valueOf(first, text, field);
  const by = step === undefined ? 1 : stepOf(step, text, field);
  // A single value with a step goes on to the end of the field.
  const end = step !== undefined || span === '*' ? field.max : from;
  const to = last === undefined ? end : valueOf(last, text, field);
  if (to < from) throw wrong(text, field);
  return range(from, to).filter((value) => (value - from) % by === 0);
}

function valueOf(text: string, whole: string, field: Field): number {
  const named = field.names?.indexOf(text) ?? -1;
  if (named >= 0) return field.min + named;
  const value = /^\d{1,4}$/.test(text) ? Number(text) : NaN;
  if (!(value >= field.min && value <= field.max)) throw wrong(whole, field);
  return value;
}

function stepOf(text: string, whole: string, field: Field): number {
  const step = /^\d{1,4}$/.test(text) ? Number(text) : 0;
  if (step < 1 || step > field.max) throw wrong(whole, field);
  return step;
}

function wrong(text: string, { name, min, max }: Field): ExpressionError {
  return new ExpressionError(
    `the ${name} field takes values from ${min} to ${max}, their lists, ranges and steps, not '${text}'`,
  );
}

function range(from: number, to: number): number[] {
  return Array.from({ length: to - from + 1 }, (_, index) => from + index);
}

type Days = Cron['days'];

function daysOf(dayOfMonth: string, dayOfWeek: string): Days {
  if ((dayOfMonth === '?') === (dayOfWeek === '?')) {
    throw new ExpressionError('exactly one of the day-of-month and day-of-week fields is ?');
  }
  return dayOfWeek === '?' ? monthDays(dayOfMonth) : weekDays(dayOfWeek);
}

function monthDays(text: string): Days {
  if (text === 'L') return (year, month) => [lastDay(year, month)];
  const near = /^(\d{1,2})W$/.exec(text)?.[1];
  if (near !== undefined) {
    const day = valueOf(near, text, fields.dayOfMonth);
    return (year, month) => (day > lastDay(year, month) ? [] : [nearestWorkday(year, month, day)]);
  }
  const days = valuesOf(text, fields.dayOfMonth);
  return (year, month) => days.filter((day) => day <= lastDay(year, month));
}

function weekDays(text: string): Days {
  const last = /^(.+)L$/.exec(text)?.[1];
  if (last !== undefined) {
    const weekday = valueOf(last, text, fields.dayOfWeek);
    return (year, month) => weekdaysIn(year, month, [weekday]).slice(-1);
  }
  const [, nthDay, nth] = /^([^#]+)#([1-5])$/.exec(text) ?? [];
  if (nthDay !== undefined && nth !== undefined) {
    const weekday = valueOf(nthDay, text, fields.dayOfWeek);
    return (year, month) => weekdaysIn(year, month, [weekday]).slice(Number(nth) - 1, Number(nth));
  }
  // Alone, L is the last day of the week.
  const weekdays = text === 'L' ? [fields.dayOfWeek.max] : valuesOf(text, fields.dayOfWeek);
  return (year, month) => weekdaysIn(year, month, weekdays);
}

function lastDay(year: number, month: number): number {
  return new Date(Date.UTC(year, month, 0)).getUTCDate();
}

/** 1 = Sunday. */
function weekdayOf(year: number, month: number, day: number): number {
  return new Date(Date.UTC(year, month - 1, day)).getUTCDay() + 1;
}

function weekdaysIn(year: number, month: number, weekdays: readonly number[]): number[] {
  const first = weekdayOf(year, month, 1);
  return range(1, lastDay(year, month)).filter((day) => weekdays.includes(((first + day - 2) % 7) + 1));
}

/** The day from Monday to Friday that is nearest, in the same month. */
function nearestWorkday(year: number, month: number, day: number): number {
  const weekday = weekdayOf(year, month, day);
  if (weekday === 7) return day === 1 ? day + 2 : day - 1;
  if (weekday === 1) return day === lastDay(year, month) ? day - 2 : day + 1;
  return day;
}
