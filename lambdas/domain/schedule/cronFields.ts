/**
 * Reads the five fields of a cron expression: values, names, lists, ranges and steps. A range may wrap around, and a step may
 * have a start (`5/15`).
 */
import { quote } from '../httpError.ts';

interface Field {
  readonly name: string;
  readonly min: number;
  readonly max: number;
  /** The names of the values from `min` on. */
  readonly names: readonly string[];
  /** Another number for `min`: 7 is Sunday, as 0 is. */
  readonly alsoMin?: number;
  readonly allowed: string;
}

const minute: Field = { name: 'minute', min: 0, max: 59, names: [], allowed: '0 to 59' };
const hour: Field = { name: 'hour', min: 0, max: 23, names: [], allowed: '0 to 23' };
const date: Field = { name: 'day of month', min: 1, max: 31, names: [], allowed: '1 to 31' };
const month: Field = {
  name: 'month',
  min: 1,
  max: 12,
  names: ['JAN', 'FEB', 'MAR', 'APR', 'MAY', 'JUN', 'JUL', 'AUG', 'SEP', 'OCT', 'NOV', 'DEC'],
  allowed: '1 to 12 or JAN to DEC',
};
const weekday: Field = {
  name: 'day of week',
  min: 0,
  max: 6,
  names: ['SUN', 'MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT'],
  alsoMin: 7,
  allowed: '0 to 7 (0 and 7 are Sunday) or SUN to SAT',
};

/** The values at which an expression fires, in order. A day counts where either its date or its weekday is restricted to it. */
export interface CronFields {
  readonly minutes: readonly number[];
  readonly hours: readonly number[];
  /** Undefined where the field is no restriction. */
  readonly dates: readonly number[] | undefined;
  readonly months: readonly number[];
  /** From 0, Sunday, to 6. Undefined where the field is no restriction. */
  readonly weekdays: readonly number[] | undefined;
}

/** Makes an error of a problem, and of the end of a sentence that says what is allowed. */
export type Refuse = (problem: string, allowed: string) => Error;

/**
 * Reads the five fields.
 *
 * @throws the error of `refuse`, for the first entry that is wrong
 */
export function readFields(texts: readonly string[], refuse: Refuse): CronFields {
  const [minutes = '', hours = '', dates = '', months = '', weekdays = ''] = texts;
  const read = (field: Field, text: string): readonly number[] =>
    valuesOf(field, text, refuse) ?? valuesFrom(field.min, field.max, 1);
  return {
    minutes: read(minute, minutes),
    hours: read(hour, hours),
    dates: valuesOf(date, dates, refuse),
    months: read(month, months),
    weekdays: valuesOf(weekday, weekdays, refuse),
  };
}

/** @returns the values of a field, in order and each once; undefined where an entry is no restriction, as `*` */
function valuesOf(field: Field, text: string, refuse: Refuse): readonly number[] | undefined {
  const entries = text.split(',').map((entry) => valuesOfEntry(field, entry, refuse));
  const values = entries.flatMap((entry) => entry ?? []);
  return entries.includes(undefined) ? undefined : [...new Set(values)].sort((a, b) => a - b);
}

const valuesFrom = (from: number, to: number, step: number): readonly number[] =>
  Array.from({ length: Math.floor((to - from) / step) + 1 }, (_, index) => from + index * step);

function valuesOfEntry(field: Field, entry: string, refuse: Refuse): readonly number[] | undefined {
  const size = field.max - field.min + 1;
  const refuseEntry = (problem: string): Error =>
    refuse(
      `in the ${field.name} field, ${problem}`,
      `are ${field.allowed}, *, ranges (a-b), lists (a,b) and steps (*/n, a-b/n, a/n)`,
    );
  const valueOf = (text: string): number => {
    const named = field.names.indexOf(text.toUpperCase());
    if (named >= 0) return field.min + named;
    if (!/^\d{1,2}$/.test(text)) throw refuseEntry(`${quote(text)} is no value`);
    const value = Number(text);
    if ((value < field.min || value > field.max) && value !== field.alsoMin) {
      throw refuseEntry(`${quote(text)} is out of range`);
    }
    return value;
  };

  if (entry === '') throw refuseEntry('an entry is empty');
  if (/[?#]|^\d*[LW]+$/i.test(entry)) throw refuseEntry(`${quote(entry)} is not supported`);
  const form = /^(?:\*|(\w+)(?:-(\w+))?)(?:\/(\d{1,4}))?$/.exec(entry);
  if (form === null) throw refuseEntry(`${quote(entry)} cannot be read`);
  const [, first, last, stepText] = form;
  const step = Number(stepText ?? 1);
  if (step < 1 || step > size) throw refuseEntry(`the step of ${quote(entry)} is not 1 to ${size}`);
  if (first === undefined) return step === 1 ? undefined : valuesFrom(field.min, field.max, step);

  let from = valueOf(first);
  let to = from;
  if (last !== undefined) to = valueOf(last);
  else if (stepText !== undefined) to = field.max;
  if (from === field.alsoMin) {
    from = field.min;
    if (to === field.alsoMin) to = field.min;
  }
  if (to < from) to += size;
  return valuesFrom(from, to, step).map((value) => (value > field.max ? value - size : value));
}
