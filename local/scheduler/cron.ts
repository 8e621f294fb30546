/**
 * The part of EventBridge Scheduler's cron expressions that the service uses ("Schedule types", "Cron-based
 * schedules" in its user guide): six fields, days of the week from 1 = Sunday, `?` in exactly one day field,
 * and `*`, lists, ranges, and steps with a start. All others are refused, even if AWS accepts them.
 */
import { dayMs, minuteMs } from '../../lambdas/shared/clock.ts';
import type { WallClock } from '../../lambdas/value/wallClock.ts';

/** The values of each field, ascending. */
interface Cron {
  readonly minutes: readonly number[];
  readonly hours: readonly number[];
  /** All days if the field is `?`. The same for `daysOfWeek`. */
  readonly daysOfMonth: readonly number[];
  /** From 1 = January. */
  readonly months: readonly number[];
  /** From 1 = Sunday. */
  readonly daysOfWeek: readonly number[];
}

/** An expression is invalid. The message says why. */
export class ExpressionError extends Error {}

interface Field {
  readonly name: string;
  readonly min: number;
  readonly max: number;
  readonly hasSteps: boolean;
}

const minutesField: Field = { name: 'minutes', min: 0, max: 59, hasSteps: true };
const hoursField: Field = { name: 'hours', min: 0, max: 23, hasSteps: true };
const dayOfMonthField: Field = { name: 'day-of-month', min: 1, max: 31, hasSteps: true };
const monthField: Field = { name: 'month', min: 1, max: 12, hasSteps: true };
const dayOfWeekField: Field = { name: 'day-of-week', min: 1, max: 7, hasSteps: false };
const lastYear = 2199;

/**
 * @param text the six fields, without `cron(` and `)`
 * @throws ExpressionError
 */
export function parseCron(text: string): Cron {
  const fields = text.trim().split(/\s+/);
  if (fields.length !== 6) {
    throw new ExpressionError(`a cron expression has 6 fields, this one has ${fields.length}`);
  }
  const [minutes = '', hours = '', dayOfMonth = '', month = '', dayOfWeek = '', year = ''] = fields;
  if ((dayOfMonth === '?') === (dayOfWeek === '?')) {
    throw new ExpressionError('exactly one of the day-of-month and day-of-week fields is ?');
  }
  if (year !== '*') throw new ExpressionError(`the local stage's year field is *, not '${year}'`);
  return {
    minutes: valuesOf(minutes, minutesField),
    hours: valuesOf(hours, hoursField),
    daysOfMonth: valuesOf(dayOfMonth === '?' ? '*' : dayOfMonth, dayOfMonthField),
    months: valuesOf(month, monthField),
    daysOfWeek: valuesOf(dayOfWeek === '?' ? '*' : dayOfWeek, dayOfWeekField),
  };
}

/**
 * The first time after a moment, both. A local time that a clock change skips does not fire. One that occurs
 * twice fires once.
 *
 * @returns undefined if there is no time until the end of 2199
 */
export function nextCronTime(
  cron: Cron,
  { wallAt, firstTimeOf }: WallClock,
  after: number,
): number | undefined {
  const from = Math.floor(wallAt(after) / minuteMs) * minuteMs;
  const end = Date.UTC(lastYear + 1, 0);
  for (let midnight = Math.floor(from / dayMs) * dayMs; midnight < end; midnight += dayMs) {
    if (!hasDay(cron, new Date(midnight))) continue;
    for (const hour of cron.hours) {
      for (const minute of cron.minutes) {
        const wall = midnight + (60 * hour + minute) * minuteMs;
        if (wall < from) continue;
        const moment = firstTimeOf(wall);
        if (moment !== undefined && moment > after) return moment;
      }
    }
  }
  return undefined;
}

/** @param day midnight of local time, written as if it were UTC */
function hasDay({ daysOfMonth, months, daysOfWeek }: Cron, day: Date): boolean {
  return (
    months.includes(day.getUTCMonth() + 1) &&
    daysOfMonth.includes(day.getUTCDate()) &&
    daysOfWeek.includes(day.getUTCDay() + 1)
  );
}

function valuesOf(text: string, field: Field): number[] {
  const { min, max } = field;
  if (text === '*') return range(min, max);
  const [, first, step] = /^(\d{1,2})\/(\d{1,2})$/.exec(text) ?? [];
  if (first !== undefined && step !== undefined) {
    const by = Number(step);
    if (!field.hasSteps || by < 1 || by > max) throw wrong(text, field);
    const from = valueOf(first, text, field);
    return range(from, max).filter((value) => (value - from) % by === 0);
  }
  const values = new Set(text.split(',').flatMap((item) => itemValues(item, text, field)));
  return [...values].sort((a, b) => a - b);
}

/** The values that a list item contains: one value or a range. */
function itemValues(item: string, text: string, field: Field): number[] {
  const [first = '', last = first, ...rest] = item.split('-');
  const from = valueOf(first, text, field);
  const to = valueOf(last, text, field);
  if (rest.length > 0 || to < from) throw wrong(text, field);
  return range(from, to);
}

function valueOf(text: string, whole: string, field: Field): number {
  const value = /^\d{1,2}$/.test(text) ? Number(text) : NaN;
  if (!(value >= field.min && value <= field.max)) throw wrong(whole, field);
  return value;
}

function wrong(text: string, { name, min, max, hasSteps }: Field): ExpressionError {
  return new ExpressionError(
    `the local stage's ${name} field takes values from ${min} to ${max}, their lists and ranges${hasSteps ? ', and a value with a step' : ''}, not '${text}'`,
  );
}

function range(from: number, to: number): number[] {
  return Array.from({ length: to - from + 1 }, (_, index) => from + index);
}
