/**
 * The parts of an option of a message. Each option, or each family of them, has a file here, and exports from it
 *
 * - `settings`: its names in a request, with their descriptions in the API's description, and the requests that may give it;
 * - `parse`: how it is read and refused; undefined where a request does not give it;
 * - `stored`: its shape in rows;
 * - `answer` and `show`: its fields in answers, and how they are made;
 * - `write`: the settings that ask for what an answer shows;
 * - `fields`: its fields in forms.
 *
 * `options.ts` and `described.ts` put them together. Each is a separate export without effects, which
 * bundles that do not use it leave out. The console loads these files too: they import nothing of Node.js.
 */
import * as z from 'zod/mini';
import { badField, quote } from '../error/httpError.ts';

/** The form of a value, in the terms of JSON Schema. */
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
 * The kinds of request that may give a setting: a publish; a publish for one of its callbacks (behind `callback-` and
 * `failure-callback-`); the retry of a dead letter; a schedule, which may also give all that a publish may; the start of a
 * workflow's run without a client; or the dead letter of a run that is resumed or restarted.
 */
export type Scope = 'message' | 'callback' | 'retry' | 'schedule' | 'trigger' | 'resume';

export interface Setting {
  readonly description: string;
  readonly schema: ValueSchema;
  readonly example: string;
  readonly scopes: readonly Scope[];
}

/** Settings by canonical name. `*` is any text. */
export type Settings = Readonly<Record<string, Setting>>;

/** The settings that a request gives, by canonical name. */
export interface Given {
  /** A setting's name as its author wrote it, for errors. */
  field(name: string): string;
  /** @throws HttpError 400 for two different values */
  single(name: string): string | undefined;
  read<T>(name: string, parse: (field: string, value: string) => T): T | undefined;
}

/** The places of fields in the form that publishes a message. */
export type Place = 'destination' | 'message' | 'delivery' | 'lane' | 'after';

/** A field of a form. */
export interface FormField {
  readonly label: string;
  readonly placeholder?: string;
  readonly place: Place;
  /** The values of a setting that has one of a few. */
  readonly choices?: readonly string[];
  /** The kind of a field that is not text: `time` in Unix seconds, or `switch`, which is `true` or nothing. */
  readonly kind?: 'time' | 'switch';
  /** The form that has the field, where not all have it. */
  readonly only?: 'publish' | 'schedule';
  /** Whether the text is code. */
  readonly isCode?: true;
  /** Whether callbacks do not have it. */
  readonly isOfMessage?: true;
  /** Whether it can be changed when a run is resumed or restarted. */
  readonly isOfRun?: true;
  /** The fields of a setting that is written as `<part>=<value>`, with commas between. */
  readonly parts?: Readonly<Record<string, Pick<FormField, 'label' | 'placeholder'>>>;
}

/** Fields of forms, by the canonical names of their settings. */
export type FormFields = Readonly<Record<string, FormField>>;

/** A value that is only read. */
export type Readable<T> = T extends readonly (infer Item)[]
  ? readonly Readable<Item>[]
  : T extends object
    ? { readonly [Key in keyof T]: Readable<T[Key]> }
    : T;

/** All fields of a type, the optional ones included: one that is forgotten does not compile. */
export type Every<T> = { readonly [Key in keyof Required<T>]: T[Key] };

/** A shape for each field of a type, the optional ones included: one that is forgotten does not compile. */
export type Shape<T> = Readonly<Record<keyof T, z.ZodMiniType>>;

/** Makes a value by calls. One mark as pure then leaves it out of bundles that do not use it; else each call needs a mark. */
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

/** Characters of Unicode, as JSON Schema counts them. */
export const charactersIn = (value: string): number => Array.from(value).length;
