/** Generators of whole requests to an operation in the API's description. */
import * as fc from 'fast-check';
import * as z from 'zod/mini';
import type { DescribedOperation } from '../../../lambdas/http/openapi/document.ts';
import { resolve } from '../contract.ts';
import { oddestTexts, oddTexts, spoiled, valuesOf, type Generation } from './values.ts';

/** The kinds of requests: valid by the description, or with one invalid part. */
const requestKinds = [
  'plain',
  'allowed',
  'odd path',
  'odd query',
  'odd header',
  'unknown query',
  'spoiled JSON',
  'odd body',
  'cut body',
] as const;
export type RequestKind = (typeof requestKinds)[number];

/** A request as it is sent: all values are texts. */
export interface FuzzedRequest {
  readonly kind: RequestKind;
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
}

const parameterShape = z.object({
  name: z.string(),
  in: z.enum(['path', 'query', 'header']),
  required: z.optional(z.boolean()),
  schema: z.unknown(),
  example: z.optional(z.unknown()),
});
type Parameter = z.infer<typeof parameterShape>;

const bodyShape = z.object({
  required: z.boolean(),
  content: z.record(
    z.string(),
    z.object({ schema: z.optional(z.unknown()), example: z.optional(z.unknown()) }),
  ),
});

interface Parts {
  readonly kind: RequestKind;
  readonly path: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string>>;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
}

/** An operation, with values that a successful request needs, such as ids that exist. */
export interface Target extends Generation {
  readonly method: string;
  readonly path: string;
  readonly operation: DescribedOperation;
}

/** Values that replace the description's examples. */
export interface Known {
  readonly path?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** Instead of the account's own. */
  readonly token?: string;
}

const text = (value: unknown): string =>
  typeof value === 'string'
    ? value
    : Array.isArray(value)
      ? value.map(text).join(',')
      : JSON.stringify(value);

/** Removes spaces at the ends of a header's value, which are not part of it, and characters that cannot be sent. */
const headerText = (value: string): string => value.replace(/[^\t\x20-\x7e\x80-\xff]/g, '').trim();

/** Protects segments that `URL` would interpret or remove. */
const asSegment = (value: string): string => (/^\.{0,2}$/.test(value) ? `${value}x` : value);

const parametersOf = ({ operation, within }: Target): readonly Parameter[] =>
  operation.parameters.map((one) => parameterShape.parse(resolve(one, within)));

function jsonBodyOf({ operation }: Target) {
  if (operation.requestBody === undefined) return undefined;
  const { content } = bodyShape.parse(operation.requestBody);
  return content['application/json'];
}

/** The request from the description's examples, without optional parts. */
function plainParts(target: Target, known: Known): Parts {
  const required = parametersOf(target).filter((one) => one.required === true);
  const of = (place: Parameter['in']) =>
    Object.fromEntries(
      required.filter((one) => one.in === place).map(({ name, example }) => [name, text(example)]),
    );
  const body = known.body ?? jsonBodyOf(target)?.example;
  return {
    kind: 'plain',
    path: { ...of('path'), ...known.path },
    query: { ...of('query'), ...known.query },
    headers: { ...of('header'), ...known.headers },
    body: body === undefined ? undefined : JSON.stringify(body),
  };
}

function written(
  { method, path }: Target,
  { kind, path: variables, query, headers, body }: Parts,
): FuzzedRequest {
  const concrete = path.replace(/\{(\w+)\}/g, (_all, name: string) =>
    encodeURIComponent(asSegment((variables[name] ?? '').toWellFormed())),
  );
  const pairs = Object.entries(query).map(
    ([name, value]) =>
      `${encodeURIComponent(name.toWellFormed())}=${encodeURIComponent(value.toWellFormed())}`,
  );
  return {
    kind,
    method,
    path: pairs.length === 0 ? concrete : `${concrete}?${pairs.join('&')}`,
    headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, headerText(value)])),
    body: method === 'GET' || method === 'HEAD' ? undefined : body,
  };
}

/** Some of a list's members, in order; sometimes none. */
const some = <T>(all: readonly T[], most: number): fc.Arbitrary<readonly T[]> =>
  all.length === 0 ? fc.constant([]) : fc.subarray([...all], { maxLength: Math.min(most, all.length) });

/** A plain request with a few more parameters and a body, each valid by its schema. */
function allowedParts(target: Target, known: Known): fc.Arbitrary<Parts> {
  const plain = plainParts(target, known);
  const optional = parametersOf(target).filter((one) => one.required !== true && !one.name.includes('*'));
  const given = some(optional, 3).chain((chosen) =>
    fc.tuple(
      ...chosen.map((one) => valuesOf(one.schema, target).map((value) => [one, text(value)] as const)),
    ),
  );
  const schema = jsonBodyOf(target)?.schema;
  const body =
    schema === undefined
      ? fc.constant(plain.body)
      : valuesOf(schema, target).map((value): string | undefined => JSON.stringify(value));
  return fc.tuple(given, body).map(([more, bytes]) => {
    const at = (place: Parameter['in']) =>
      Object.fromEntries(more.filter(([one]) => one.in === place).map(([one, value]) => [one.name, value]));
    return {
      kind: 'allowed',
      path: plain.path,
      query: { ...at('query'), ...plain.query },
      headers: { ...at('header'), ...plain.headers },
      body: bytes,
    };
  });
}

function spoiledParts(target: Target, parts: Parts): fc.Arbitrary<Parts> {
  const all = parametersOf(target).filter((one) => !one.name.includes('*'));
  const odd = (parameter: Parameter): fc.Arbitrary<Parts> => {
    const { name } = parameter;
    if (parameter.in === 'header') {
      return oddTexts.map((value) => ({
        ...parts,
        kind: 'odd header',
        headers: { ...parts.headers, [name]: value },
      }));
    }
    const place = parameter.in;
    return oddestTexts.map((value) => ({
      ...parts,
      kind: place === 'path' ? 'odd path' : 'odd query',
      [place]: { ...parts[place], [name]: value },
    }));
  };
  const ways: fc.Arbitrary<Parts>[] = [
    ...(all.length === 0 ? [] : [fc.constantFrom(...all).chain(odd)]),
    fc.tuple(oddTexts, oddestTexts).map(([name, value]) => ({
      ...parts,
      kind: 'unknown query',
      query: { ...parts.query, [name]: value },
    })),
  ];
  if (parts.body === undefined) return fc.oneof(...ways);
  const parsed: unknown = JSON.parse(parts.body);
  const bodies = fc.oneof(
    spoiled(parsed).map((value) => ({ kind: 'spoiled JSON', body: JSON.stringify(value) }) as const),
    oddestTexts.map((body) => ({ kind: 'odd body', body }) as const),
    fc.constant({ kind: 'cut body', body: parts.body.slice(0, -1) } as const),
  );
  return fc.oneof(
    ...ways,
    bodies.map((body) => ({ ...parts, ...body })),
  );
}

export const plainRequest = (target: Target, known: Known): FuzzedRequest =>
  written(target, plainParts(target, known));

/** Requests that are valid by the description. */
export const allowedRequests = (target: Target, known: Known): fc.Arbitrary<FuzzedRequest> =>
  allowedParts(target, known).map((parts) => written(target, parts));

/** Requests with one unusual part. */
export const spoiledRequests = (target: Target, known: Known): fc.Arbitrary<FuzzedRequest> =>
  fc
    .oneof(fc.constant(plainParts(target, known)), allowedParts(target, known))
    .chain((parts) => spoiledParts(target, parts))
    .map((parts) => written(target, parts));
