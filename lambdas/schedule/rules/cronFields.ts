/**
 * Checks the fields of a cron expression, and rewrites them for croner. croner does not accept wrapping
 * ranges or a start with a step (`5/15`), and misreads mistakes (`5*`, `JANFEB`).
 */
import { quote } from '../../error/httpError.ts';

interface Field {
  readonly name: string;
  readonly min: number;
  readonly max: number;
  /** The names of the values, starting with that of `min`. */
  readonly names: readonly string[];
  /** Another number for `min`: 7 is Sunday, like 0. */
  readonly alsoMin?: number;
  readonly allowed: string;
}

/** In the order in which they are written. */
const fields: readonly Field[] = [
  { name: 'minute', min: 0, max: 59, names: [], allowed: '0 to 59' },
  { name: 'hour', min: 0, max: 23, names: [], allowed: '0 to 23' },
  { name: 'day of month', min: 1, max: 31, names: [], allowed: '1 to 31' },
  {
    name: 'month',
    min: 1,
    max: 12,
    names: ['JAN', 'FEB', 'MAR', 'APR', 'MAY', 'JUN', 'JUL', 'AUG', 'SEP', 'OCT', 'NOV', 'DEC'],
    allowed: '1 to 12 or JAN to DEC',
  },
  {
    name: 'day of week',
    min: 0,
    max: 6,
    names: ['SUN', 'MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT'],
    alsoMin: 7,
    allowed: '0 to 7 (0 and 7 are Sunday) or SUN to SAT',
  },
];

export type Refuse = (problem: string, allowed: string) => Error;

/** @throws the error that `refuse` makes for the first wrong entry */
export function plainFields(texts: readonly string[], refuse: Refuse): string {
  return fields.map((field, index) => plainField(field, texts[index] ?? '', refuse)).join(' ');
}

function plainField(field: Field, text: string, refuse: Refuse): string {
  const entries = text.split(',').map((entry) => plainEntry(field, entry, refuse));
  // If a list has `*`, every value matches.
  return entries.includes('*') ? '*' : entries.join(',');
}

function plainEntry(field: Field, entry: string, refuse: Refuse): string {
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
  if (first === undefined) return step === 1 ? '*' : `*/${step}`;

  let from = valueOf(first);
  let to = from;
  if (last !== undefined) to = valueOf(last);
  else if (stepText !== undefined) to = field.max;
  if (from === field.alsoMin) {
    from = field.min;
    if (to === field.alsoMin) to = field.min;
  }
  if (to < from) to += size;
  if (to === from) return String(from);
  if (to <= field.max) return `${from}-${to}/${step}`;

  const values: number[] = [];
  for (let value = from; value <= to; value += step) values.push(value > field.max ? value - size : value);
  return values.join(',');
}
