/**
 * The parts of a message's options. Each option, or each family, has a file here that exports
 *
 * - `settings`: its names in a request, their descriptions, and the requests that may give it;
 * - `parse`: reads or refuses it; returns undefined if a request does not give it;
 * - `stored`: its shape in rows;
 * - `answer` and `show`: its fields in answers, and how they are made;
 * - `write`: the settings that request what an answer shows;
 * - `fields`: its fields in forms.
 *
 * `options.ts` and `described.ts` combine them. Exports have no effects, so bundles leave out unused ones. The console loads
 * these files too, so they import nothing of Node.js.
 */
import * as z from 'zod/mini';
import { badField, quote } from '../error/httpError.ts';

export interface ValueSchema {
  readonly type: 'string' | 'integer' | 'boolean';
  readonly enum?: readonly string[];
  readonly format?: 'uri' | 'int64';
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
}

/**
 * The kinds of request in which a setting can be given: a publish; one of its callbacks (after `callback-`
 * and `failure-callback-`); the retry of a dead letter; a schedule, which has all those of a publish, too;
 * the start of a run without a client; resuming or restarting a failed run.
 */
export type Scope = 'message' | 'callback' | 'retry' | 'schedule' | 'trigger' | 'resume';

export interface Setting {
  readonly description: string;
  readonly schema: ValueSchema;
  readonly example: string;
  readonly scopes: readonly Scope[];
}

/** Settings by canonical name. `*` is a placeholder for any text. */
export type Settings = Readonly<Record<string, Setting>>;

export interface Given {
  /** The name of a setting as the client wrote it, for errors. */
  field(name: string): string;
  /** @throws HttpError 400 for two different values */
  single(name: string): string | undefined;
  read<T>(name: string, parse: (field: string, value: string) => T): T | undefined;
}

/** The sections of the form that publishes a message. */
export type Place = 'destination' | 'message' | 'delivery' | 'lane' | 'after';

export interface FormField {
  readonly label: string;
  readonly placeholder?: string;
  readonly place: Place;
  /** The allowed values, if there are only a few. */
  readonly choices?: readonly string[];
  /**
   * The kind of a field that is not text: `time` in Unix seconds, or `switch`, which is `true` or nothing.
   */
  readonly kind?: 'time' | 'switch';
  /** The form that has the field, if only one does. */
  readonly only?: 'publish' | 'schedule';
  readonly isCode?: true;
  /** Whether callbacks lack it. */
  readonly isOfMessage?: true;
  /** Whether it can be changed when a run is resumed or restarted. */
  readonly isOfRun?: true;
  /** The parts of a setting such as `<part>=<value>,<part>=<value>`. */
  readonly parts?: Readonly<Record<string, Pick<FormField, 'label' | 'placeholder'>>>;
}

export type FormFields = Readonly<Record<string, FormField>>;

/** A deeply read-only type. */
export type Readable<T> = T extends Uint8Array | ReadonlyMap<unknown, unknown>
  ? T
  : T extends object
    ? { readonly [Key in keyof T]: Readable<T[Key]> }
    : T;

/** Requires all fields of a type, even optional ones. A missing one does not compile. */
export type Every<T> = { readonly [Key in keyof Required<T>]: T[Key] };

/** A shape for each field of a type, even optional ones. A missing one does not compile. */
export type Shape<T> = Readonly<Record<keyof T, z.ZodMiniType>>;

/** The same part of each record, by the records' names. */
export const partOfEach = <
  Part extends string,
  Records extends Readonly<Record<string, Readonly<Record<Part, unknown>>>>,
>(
  records: Records,
  part: Part,
) =>
  Object.fromEntries(Object.entries(records).map(([name, record]) => [name, record[part]])) as {
    readonly [Name in keyof Records]: Records[Name][Part];
  };

/** Makes a value in a function, so that one `@__PURE__` mark lets bundles leave it out. */
export const made = <T>(make: () => T): T => make();

export const text = (description: string) => z.string().check(z.describe(description));
export const whole = (description: string) => z.int().check(z.minimum(0), z.describe(description));
export const headerLists = (description: string) =>
  z.record(z.string(), z.array(z.string())).check(z.describe(description));
export const oneOf = <const Values extends readonly string[]>(values: Values, description: string) =>
  z.enum(values).check(z.describe(description));

/** Reads one of two words, in upper or lower case. */
const parseWord =
  (yes: string, no: string) =>
  (field: string, value: string): boolean => {
    const word = value.toLowerCase();
    if (word === yes || word === no) return word === yes;
    throw badField(`${field} is ${quote(value)}; allowed are ${yes} and ${no}.`);
  };
export const parseBoolean = /* @__PURE__ */ parseWord('true', 'false');
export const parseSwitch = /* @__PURE__ */ parseWord('on', 'off');

/** The number of Unicode characters, as JSON Schema counts them. */
export const charactersIn = (value: string): number => Array.from(value).length;
