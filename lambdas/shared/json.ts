import * as z from 'zod/mini';
import { headerTextForm } from './bounds.ts';
import type { Header } from './headers.ts';
import type { CodeOf } from '../error/errorCodes.ts';
import { badField, badRequest } from '../error/httpError.ts';
import { excessIn, plainBounds, type JsonBounds } from './jsonBounds.ts';
import { malformedTextIn } from './text.ts';

/**
 * Reads JSON that a client sent.
 *
 * @param field what the error's text calls it
 * @param bounds of its values and levels, which are looked at before it is parsed
 * @throws HttpError 400
 */
export function parseJson(field: string, bytes: Uint8Array, bounds: JsonBounds = plainBounds): unknown {
  const excess = excessIn(bytes, bounds);
  if (excess !== undefined) {
    const most =
      excess === 'values' ? `${bounds.values} values` : `${bounds.depth} levels of lists and objects`;
    throw badRequest('body_invalid', `${field} has more than ${most}, which are allowed.`);
  }
  try {
    return JSON.parse(Buffer.from(bytes).toString('utf8'));
  } catch {
    throw badRequest('body_invalid', `${field} is not JSON.`);
  }
}

/**
 * Reads JSON of a shape.
 *
 * @param allowed the shape in words, or the words for a field of it, by its path
 * @throws HttpError 400 that names the first field that is wrong, also one whose text no store would take
 */
export function parseShape<T>(
  field: string,
  bytes: Uint8Array,
  shape: z.ZodMiniType<T>,
  allowed: string | ((path: string) => string),
  bounds?: JsonBounds,
): T {
  const read = shape.safeParse(parseJson(field, bytes, bounds));
  if (read.success) {
    const path = malformedTextIn(read.data);
    if (path === undefined) return read.data;
    throw badField(`${path.join('.')} has half of a character; allowed is text of Unicode.`);
  }
  const words = typeof allowed === 'string' ? allowed : allowed(read.error.issues[0]?.path.join('.') ?? '');
  throw badRequest(codeOf(read.error), `${problemOf(read.error, field)}; allowed is ${words}.`);
}

/** Finds the code of the first mistake in a body: a name, a value, or the body itself. */
export function codeOf({ issues: [issue] }: z.core.$ZodError): CodeOf<400> {
  if (issue?.code === 'unrecognized_keys') return 'field_unknown';
  return issue?.path.length === 0 ? 'body_invalid' : 'field_invalid';
}

/**
 * Describes the first mistake in a value, and its place.
 *
 * @param whole the name of the value itself
 * @param above the place of the value within something larger
 */
export function problemOf(
  error: z.core.$ZodError,
  whole: string,
  above: readonly PropertyKey[] = [],
): string {
  const [issue] = error.issues;
  const unknown = issue?.code === 'unrecognized_keys' ? issue.keys.slice(0, 1) : [];
  const path = [...above, ...(issue?.path ?? []), ...unknown];
  return `${path.length === 0 ? whole : path.join('.')}: ${issue?.message ?? 'it is malformed'}`;
}

/** Reads `null` as an absent value: the published Python client sends it for settings that are not given. */
export const orNull = <Shape extends z.ZodMiniType>(shape: Shape) =>
  z.pipe(
    z.nullable(shape),
    z.transform((value) => value ?? undefined),
  );

/** A field that may be absent or `null`, which means the same. */
export const optionalField = <Shape extends z.ZodMiniType>(shape: Shape) => z.optional(orNull(shape));

/**
 * Makes the shape of a JSON object of headers, which reads it as pairs. zod's own records lose a field that is called
 * `__proto__`.
 *
 * @param description for the API's description
 */
export const headersIn = (description: string) =>
  z.pipe(
    z.unknown().check(
      z.meta({
        description,
        type: 'object',
        propertyNames: { pattern: headerNameForm },
        additionalProperties: {
          anyOf: [...headerForms, { type: 'array', items: { anyOf: headerForms } }],
        },
      }),
    ),
    z.transform((value, context): readonly Header[] => {
      const refuse = (path: readonly string[], message: string): never[] => {
        context.issues.push({ code: 'custom', message, path: [...path], input: value });
        return [];
      };
      if (!isObject(value)) return refuse([], 'it is not a JSON object');
      const names = Object.keys(value).length;
      if (names > mostHeaders) return refuse([], `it has ${names} headers; allowed are ${mostHeaders}`);
      return Object.entries(value).flatMap(([name, given]) => {
        const texts = headerTexts(given);
        if (texts === undefined)
          return refuse([name], 'it is not a text, a number, a boolean, null or a list of these');
        if (![name, ...texts].every((text) => text.isWellFormed())) {
          return refuse([name], 'it has half of a character');
        }
        return texts.map((one): Header => [name, one]);
      });
    }),
  );

/** Headers in JSON: more do not fit into the 10 KB that a request's headers may have. */
export const mostHeaders = 1_000;

/**
 * Makes the shape of a list that is read up to its first mistake. zod's own lists collect all mistakes: those of a million items take
 * seconds.
 */
export const listOf = <T>(item: z.ZodMiniType<T>, least = 0) =>
  z.pipe(
    z
      .unknown()
      .check(z.meta({ type: 'array', minItems: least, items: z.toJSONSchema(item, { io: 'input' }) })),
    z.transform((value, context): readonly T[] => {
      const refuse = (path: readonly PropertyKey[], message: string): never[] => {
        context.issues.push({ code: 'custom', message, path: [...path], input: value });
        return [];
      };
      if (!Array.isArray(value)) return refuse([], 'it is not a list');
      if (value.length < least) return refuse([], 'it is empty');
      const items: T[] = [];
      for (const [index, one] of value.entries()) {
        const read = item.safeParse(one);
        if (!read.success) {
          const [issue] = read.error.issues;
          return refuse([index, ...(issue?.path ?? [])], issue?.message ?? 'it is malformed');
        }
        items.push(read.data);
      }
      return items;
    }),
  );

/** The names and values that Node takes in an HTTP request. */
const headerNameForm = "^[A-Za-z0-9!#$%&'*+.^_`|~-]+$";
const headerForms = [
  { type: 'string', pattern: headerTextForm },
  { type: 'number' },
  { type: 'boolean' },
  { type: 'null' },
];

/**
 * Reads the values of a header in JSON. Clients pass on what they were given: a number or a boolean is its text, and `null` is
 * absent.
 *
 * @returns undefined for any other value
 */
function headerTexts(given: unknown): readonly string[] | undefined {
  const texts: string[] = [];
  const values: readonly unknown[] = Array.isArray(given) ? given : [given];
  for (const one of values) {
    if (typeof one === 'string' || typeof one === 'number' || typeof one === 'boolean')
      texts.push(String(one));
    else if (one !== null) return undefined;
  }
  return texts;
}

const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
