import * as z from 'zod/mini';
import { headerTextForm } from './bounds.ts';
import type { Header } from './headers.ts';
import type { CodeOf } from '../error/errorCodes.ts';
import { badField, badRequest } from '../error/httpError.ts';
import { excessIn, plainBounds, type JsonBounds } from './jsonBounds.ts';
import { malformedTextIn } from './text.ts';

/**
 * @param bounds checked before the text is parsed
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
 * Parses JSON of a shape.
 *
 * @param allowed describes the shape, or its fields by path
 * @throws HttpError 400 that names the first wrong field, or a text that cannot be stored
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

/** The error code for the first mistake in a body: of a name, a value, or the body itself. */
export function codeOf({ issues: [issue] }: z.core.$ZodError): CodeOf<400> {
  if (issue?.code === 'unrecognized_keys') return 'field_unknown';
  return issue?.path.length === 0 ? 'body_invalid' : 'field_invalid';
}

/**
 * Describes the first mistake in a value, and where it is.
 *
 * @param whole the value's name
 * @param above the value's path in something larger
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

/** Treats `null` as absent: the published Python client sends it for missing settings. */
export const orNull = <Shape extends z.ZodMiniType>(shape: Shape) =>
  z.pipe(
    z.nullable(shape),
    z.transform((value) => value ?? undefined),
  );

export const optionalField = <Shape extends z.ZodMiniType>(shape: Shape) => z.optional(orNull(shape));

/** Makes each field of a shape an optional one. */
export const optionalFields = <Shapes extends Readonly<Record<string, z.ZodMiniType>>>(shapes: Shapes) =>
  Object.fromEntries(Object.entries(shapes).map(([name, shape]) => [name, optionalField(shape)])) as {
    readonly [Name in keyof Shapes]: ReturnType<typeof optionalField<Shapes[Name]>>;
  };

/**
 * A JSON object of headers, read as pairs. zod's records lose a field named `__proto__`.
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

/** A request of 10 KB cannot have more headers. */
export const mostHeaders = 1_000;

/**
 * A list that stops at the first mistake. zod's lists collect all mistakes, which takes seconds for a million
 * items.
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

/** The names and values of headers that Node accepts in HTTP requests. */
const headerNameForm = "^[A-Za-z0-9!#$%&'*+.^_`|~-]+$";
const headerForms = [
  { type: 'string', pattern: headerTextForm },
  { type: 'number' },
  { type: 'boolean' },
  { type: 'null' },
];

/**
 * Reads a header's values in JSON, as clients pass them: a number or boolean becomes text, and `null` counts
 * as missing.
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
