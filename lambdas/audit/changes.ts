/** The changed fields of an entry with their values before and after, shortened and without secrets. */
import * as z from 'zod/mini';
import { hidden, withoutSecrets } from '../shared/urlCredentials.ts';

/** A changed field. If it had no value, `before` or `after` is missing. */
const change = z.object({
  field: z.string(),
  before: z.optional(z.string()),
  after: z.optional(z.string()),
});
type Change = Readonly<z.infer<typeof change>>;
export type Changes = readonly Change[];

export type Values = Readonly<Record<string, unknown>>;

/** The most characters of a field's name and of a value. */
const longestText = 200;
/** The most bytes of an entry's changes, as JSON. */
export const mostChangesBytes = 2_048;

const cut = (text: string): string =>
  (text.length <= longestText ? text : `${text.slice(0, longestText - 1)}…`).toWellFormed();

const isRecord = (value: unknown): value is Values =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  return Array.isArray(value) ? value.map(textOf).join(', ') : JSON.stringify(value);
}

const textsOf = (values: Values, path = ''): ReadonlyMap<string, string> =>
  new Map(
    Object.entries(values).flatMap(([name, value]): readonly (readonly [string, string])[] => {
      if (value === undefined || value === null) return [];
      const field = `${path}${name}`;
      return isRecord(value) ? [...textsOf(value, `${field}.`)] : [[field, textOf(value)]];
    }),
  );

/**
 * Lists the fields that differ.
 *
 * @param shown turns a field's value into the text that is shown
 */
export function changesBetween(
  before: Values | undefined,
  after: Values | undefined,
  shown: (field: string, text: string) => string = (_field, text) => text,
): Changes {
  const [old, fresh] = [textsOf(before ?? {}), textsOf(after ?? {})];
  const told = (field: string, text: string | undefined): string | undefined =>
    text === undefined ? undefined : cut(withoutSecrets(shown(field, text)));
  return [...new Set([...old.keys(), ...fresh.keys()])]
    .filter((field) => old.get(field) !== fresh.get(field))
    .map((field) => ({
      field: cut(withoutSecrets(field)),
      before: told(field, old.get(field)),
      after: told(field, fresh.get(field)),
    }));
}

/** Hides the values of forwarded headers, which may be secrets. */
export const hideForwarded = (field: string, text: string): string =>
  /-forward-|^header\./i.test(field) ? hidden : text;

/** Writes changes as JSON of at most {@link mostChangesBytes}. The last one counts those that do not fit. */
export function formatChanges(changes: Changes): string | undefined {
  if (changes.length === 0) return undefined;
  const textWith = (fitting: number): string => {
    const left = changes.length - fitting;
    const last = left === 0 ? [] : [{ field: hidden, after: `${left} more` }];
    return JSON.stringify([...changes.slice(0, fitting), ...last]);
  };
  let fitting = changes.length;
  while (Buffer.byteLength(textWith(fitting)) > mostChangesBytes) fitting -= 1;
  return textWith(fitting);
}

/** @throws for a text that {@link formatChanges} did not make */
export const parseChanges = (text: string | undefined): Changes =>
  text === undefined ? [] : z.array(change).parse(JSON.parse(text));

export function joinedChanges(first: Changes, last: Changes): Changes {
  const later = new Map(last.map((one) => [one.field, one]));
  const known = new Set(first.map(({ field }) => field));
  return [
    ...first.map((one) => {
      const again = later.get(one.field);
      return again === undefined ? one : { ...one, after: again.after };
    }),
    ...last.filter(({ field }) => !known.has(field)),
  ];
}
