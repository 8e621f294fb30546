/** Answers as tables and lines for people. */
import * as z from 'zod/mini';
import { tableOf } from '../../cli/table.ts';
import type { Action } from './shortcuts.ts';

const record = z.record(z.string(), z.unknown());
type Row = z.output<typeof record>;

/** The records in the fields of an answer, one field in the other. */
export function rowsIn(answer: unknown, fields: string): readonly Row[] {
  const all: readonly unknown[] = Array.isArray(answer) ? answer : [answer];
  const records = all.flatMap((one): readonly Row[] => {
    const { data } = record.safeParse(one);
    return data === undefined ? [] : [data];
  });
  const [first = '', ...rest] = fields.split(' ');
  return first === '' ? records : records.flatMap((one) => rowsIn(one[first] ?? [], rest.join(' ')));
}

const isMoment = (name: string, value: unknown): value is number =>
  typeof value === 'number' && value > 1e9 && /(At|_at|since|until|time|Before|deadline)$/i.test(name);

/** Texts come from other people's servers: without control characters they cannot change the terminal. */
function cell(name: string, value: unknown): string {
  if (value === undefined || value === null) return '';
  // Some moments are in seconds.
  if (isMoment(name, value)) return new Date(value < 1e11 ? value * 1_000 : value).toISOString();
  const isList = Array.isArray(value) && value.every((one) => typeof one === 'string');
  const text = isList ? value.join(', ') : typeof value === 'string' ? value : JSON.stringify(value);
  return text.replaceAll(/[\p{Cc}\p{Cf}]+/gu, ' ');
}

const headingOf = (name: string): string =>
  name
    .replaceAll(/([a-z])([A-Z])/g, '$1 $2')
    .replaceAll('_', ' ')
    .toUpperCase();

/** @param width of the terminal */
export function shown(
  answer: unknown,
  { rows = '', columns: names }: Pick<Action, 'rows' | 'columns'>,
  width = Infinity,
): string {
  const records = rowsIn(answer, rows);
  const columns = names?.split(' ');
  const lines =
    columns === undefined
      ? records.map((one) => tableOf(Object.entries(one).map(([name, value]) => [name, cell(name, value)])))
      : [
          tableOf([
            columns.map(headingOf),
            ...records.map((one) => columns.map((name) => cell(name, one[name]))),
          ]),
        ];
  if (records.length === 0 && typeof answer === 'string') return answer;
  if (columns === undefined && lines.join('') === '') return 'Done.';
  return lines
    .join('\n\n')
    .replaceAll(/^.+$/gm, (line) => (line.length > width ? `${line.slice(0, width - 1)}…` : line));
}
