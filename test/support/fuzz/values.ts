/** Generators of values that are valid by a schema of the API's description, and of values that parsers rarely expect. */
import * as fc from 'fast-check';
import * as z from 'zod/mini';
import { resolve, type Document } from '../contract.ts';

/** The keywords of JSON Schema that the descriptions use for requests. */
const schemaShape = z.object({
  type: z.optional(z.union([z.string(), z.array(z.string())])),
  enum: z.optional(z.array(z.unknown())),
  const: z.optional(z.unknown()),
  anyOf: z.optional(z.array(z.unknown())),
  oneOf: z.optional(z.array(z.unknown())),
  allOf: z.optional(z.array(z.unknown())),
  not: z.optional(z.unknown()),
  format: z.optional(z.string()),
  pattern: z.optional(z.string()),
  minimum: z.optional(z.number()),
  maximum: z.optional(z.number()),
  minLength: z.optional(z.number()),
  maxLength: z.optional(z.number()),
  minItems: z.optional(z.number()),
  maxItems: z.optional(z.number()),
  items: z.optional(z.unknown()),
  properties: z.optional(z.record(z.string(), z.unknown())),
  required: z.optional(z.array(z.string())),
  additionalProperties: z.optional(z.unknown()),
  propertyNames: z.optional(z.unknown()),
});
type Schema = z.infer<typeof schemaShape>;

export interface Generation {
  readonly within: Document;
  /** A callable URL. Generated URLs are below it. */
  readonly origin: string;
}

/** Characters that headers may contain. */
const printable = fc.string({ unit: 'grapheme-ascii', maxLength: 12 });

function texts(schema: Schema, { origin }: Generation): fc.Arbitrary<string> {
  if (schema.format === 'uri') return fc.nat(999).map((number) => `${origin}/fuzz/${number}`);
  if (schema.pattern !== undefined) return fc.stringMatching(new RegExp(schema.pattern), { size: 'xsmall' });
  const { minLength = 0, maxLength = Math.max(minLength, 12) } = schema;
  return fc.string({ unit: 'grapheme-ascii', minLength, maxLength: Math.min(maxLength, minLength + 12) });
}

function objects(schema: Schema, generation: Generation): fc.Arbitrary<unknown> {
  const named = Object.entries(schema.properties ?? {}).map(
    ([name, property]) => [name, valuesOf(property, generation)] as const,
  );
  const required = (schema.required ?? []).filter((name) => named.some(([one]) => one === name));
  const fixed = fc.record(Object.fromEntries(named), { requiredKeys: required, noNullPrototype: true });
  const others = schema.additionalProperties;
  if (others === false || (named.length > 0 && others === undefined)) return fixed;
  const names = printable.filter((name) => name !== '__proto__');
  const more = fc.dictionary(names, valuesOf(others ?? true, generation), {
    maxKeys: 3,
    noNullPrototype: true,
  });
  return fc.tuple(more, fixed).map(([some, own]) => ({ ...some, ...own }));
}

function typed(type: string, schema: Schema, generation: Generation): fc.Arbitrary<unknown> {
  const { minimum, maximum, minItems = 0, maxItems = 3 } = schema;
  switch (type) {
    case 'null':
      return fc.constant(null);
    case 'boolean':
      return fc.boolean();
    case 'integer':
      return fc.integer({ min: minimum ?? -1_000, max: Math.min(maximum ?? 2 ** 31 - 1, 2 ** 31 - 1) });
    case 'number':
      return fc.double({
        noNaN: true,
        noDefaultInfinity: true,
        ...(minimum !== undefined && { min: minimum }),
        ...(maximum !== undefined && { max: maximum }),
      });
    case 'array':
      return fc.array(valuesOf(schema.items ?? true, generation), {
        minLength: minItems,
        maxLength: Math.max(minItems, Math.min(maxItems, minItems + 2)),
      });
    case 'object':
      return objects(schema, generation);
    case 'string':
      return texts(schema, generation);
    default:
      throw new Error(`The type ${type} is not one of JSON Schema.`);
  }
}

/** Generates values that a schema allows. `not` and `allOf` are ignored, so some values may be refused. */
export function valuesOf(given: unknown, generation: Generation): fc.Arbitrary<unknown> {
  if (given === true) return fc.jsonValue({ maxDepth: 1 });
  const schema = schemaShape.parse(resolve(given, generation.within));
  if ('const' in schema) return fc.constant(schema.const);
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices !== undefined && schema.type === undefined) {
    return fc.oneof(...choices.map((one) => valuesOf(one, generation)));
  }
  if (schema.type === undefined) return fc.jsonValue({ maxDepth: 1 });
  return fc.oneof(...[schema.type].flat().map((type) => typed(type, schema, generation)));
}

/** Edge cases for parsers of numbers, dates, names, URLs, cursors and JSON. */
export const oddTexts: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom(
    ...[
      '',
      ' ',
      '0',
      '-0',
      '-1',
      '1.5',
      '1e3',
      '1e999',
      '0x10',
      'NaN',
      'Infinity',
      'null',
      'undefined',
      'true',
    ],
    ...[
      '2147483648',
      '4294967296',
      '9007199254740991',
      '9007199254740993',
      '18446744073709551616',
      '9'.repeat(400),
    ],
    // The last millisecond of JavaScript dates and of the year 9999, and values just after both.
    ...['8640000000000000', '8640000000000001', '253402300799999', '253402300800000', '999999999999999'],
    ...['2026-01-01', '2026-02-30T25:61:61Z', '1d', '99999999999d', '-5s', '*', '* * * * *', '60 24 32 13 8'],
    ...[
      ',',
      ',,,',
      'a,,b',
      '=',
      'a=',
      'parallelism=,rate=',
      '{',
      '{}',
      '[]',
      '[null]',
      '"',
      '\\',
      '%',
      '%00',
      '%zz',
    ],
    ...['msg_', 'wfr_', 'dlq_', 'msg_01KDVDNB3C8E1G4J7K9M2P5R8S', '__proto__', 'constructor', 'toString'],
    ...[
      'http://',
      'https://',
      'http://[',
      'http://a:99999/',
      'http://user:pass@/',
      'javascript:alert(1)',
      '//',
    ],
    ...[
      'e30',
      'bnVsbA',
      'W10',
      'eyJhIjoxfQ',
      'eyJpZCI6bnVsbH0=',
      'AAAA',
      '_'.repeat(3_000),
      'A'.repeat(2_048),
    ],
    ...['\u00e9', '\u00ff', '\u00a0'],
  ),
  fc.string({ unit: 'grapheme-ascii', maxLength: 40 }),
  fc.bigInt().map(String),
  fc.base64String({ maxLength: 60 }),
);

/** Texts that only a path, a query or JSON can contain, but no header. */
export const oddestTexts: fc.Arbitrary<string> = fc.oneof(
  { weight: 4, arbitrary: oddTexts },
  {
    weight: 1,
    arbitrary: fc.constantFrom('\u0000', 'a\u0000b', '\r\nX: 1', '\u{1f9fe}', '\u202e', '\ufeff', '\uffff'),
  },
  { weight: 1, arbitrary: fc.string({ unit: 'grapheme', maxLength: 20 }) },
);

/** Arbitrary JSON values, including numbers that JavaScript cannot represent. */
const oddJson: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom<unknown>(null, true, 0, -1, 1.5, 1e300, '', 'text', [], {}, [[]], [null], { a: { b: [] } }),
  oddestTexts,
  fc.jsonValue({ maxDepth: 2 }),
);

/** Replaces or removes one part of a JSON value, at any depth, or adds a part. */
export function spoiled(value: unknown): fc.Arbitrary<unknown> {
  if (Array.isArray(value) && value.length > 0) {
    const items: readonly unknown[] = value;
    return fc.oneof(
      oddJson,
      fc.nat(items.length - 1).chain((at) => spoiled(items[at]).map((part) => items.with(at, part))),
      oddJson.map((part) => [...items, part]),
    );
  }
  if (typeof value === 'object' && value !== null && Object.keys(value).length > 0) {
    const entries: readonly (readonly [string, unknown])[] = Object.entries(value);
    const at = fc.nat(entries.length - 1);
    return fc.oneof(
      oddJson,
      at.map((index) => Object.fromEntries(entries.filter((_entry, other) => other !== index))),
      at.chain((index) => {
        const [name, part] = entries[index] ?? ['', undefined];
        return spoiled(part).map((other) => ({ ...value, [name]: other }));
      }),
      fc.tuple(oddTexts, oddJson).map(([name, part]) => ({ ...value, [name]: part })),
    );
  }
  return oddJson;
}
