/** The API descriptions as contracts: answers are checked against them. */
import { fromJSONSchema } from 'zod';
import * as z from 'zod/mini';
import { describeApi, describeManagementApi, describedPath } from '../../lambdas/http/openapi/document.ts';
import { findManagementRoute, findRoute } from '../../lambdas/http/routes.ts';

export type Document = ReturnType<typeof describeApi>;

export const document: Document = describeApi();
export const managementDocument: Document = describeManagementApi();

const reference = z.object({ $ref: z.string() });

/** Finds the part of a document that a `$ref` names. Values without `$ref` are returned unchanged. */
export function resolve(value: unknown, within: Document = document): unknown {
  const { success, data } = reference.safeParse(value);
  if (!success) return value;
  const found = data.$ref
    .replace(/^#\//, '')
    .split('/')
    .reduce<unknown>((place, key) => z.record(z.string(), z.unknown()).parse(place)[key], within);
  if (found === undefined) throw new Error(`${data.$ref} leads nowhere.`);
  return found;
}

type JsonSchema = Parameters<typeof fromJSONSchema>[0];
const jsonSchema = z.custom<Exclude<JsonSchema, boolean>>((value) => typeof value === 'object');

/** Makes a schema refuse unknown fields. Clients must accept them, but the service must not send them. */
function closed(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closed);
  if (typeof schema !== 'object' || schema === null) return schema;
  const inner = Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, closed(value)]));
  return 'properties' in inner ? { additionalProperties: false, ...inner } : inner;
}

/** Closes a schema, and makes it refer to `$defs`. */
const localSchema = (schema: unknown) =>
  jsonSchema.parse(
    JSON.parse(JSON.stringify(closed(schema)).replaceAll('#/components/schemas/', '#/$defs/')),
  );

/** The schemas of each document, converted only once because there are many. */
const definitions = new Map(
  [document, managementDocument].map((within) => [
    within,
    z.record(z.string(), jsonSchema).parse(localSchema(within.components.schemas)),
  ]),
);

export function checkerOf(schema: unknown, within: Document = document): z.core.$ZodType {
  const local = localSchema(schema);
  return fromJSONSchema({ ...local, $defs: definitionsFor(local, definitions.get(within) ?? {}) });
}

type Schema = z.infer<typeof jsonSchema>;

/** The definitions that a schema refers to. Reading all of them would be much slower. */
function definitionsFor(schema: Schema, all: Readonly<Record<string, Schema>>): Record<string, Schema> {
  const needed: Record<string, Schema> = {};
  const open = [schema];
  for (let one = open.pop(); one !== undefined; one = open.pop()) {
    for (const [, name = ''] of JSON.stringify(one).matchAll(/"#\/\$defs\/([^"]+)"/g)) {
      const found = all[name];
      if (found === undefined || name in needed) continue;
      needed[name] = found;
      open.push(found);
    }
  }
  return needed;
}

const example = z.object({ value: z.unknown() });
const response = z.object({
  content: z.record(
    z.string(),
    z.object({
      schema: z.unknown(),
      example: z.optional(z.unknown()),
      examples: z.optional(z.record(z.string(), example)),
    }),
  ),
});

/** The operation of either API for a request, as `METHOD /path`. */
export function operationOf(method: string, path: string): string {
  const plain = path.replace(/\?.*$/s, '');
  const route = findRoute(method, plain).route ?? findManagementRoute(method, plain).route;
  if (route === undefined) throw new Error(`${method} ${path} has no route.`);
  return `${method} ${route.path}`;
}

function descriptionOf(operation: string) {
  const [method = '', path = ''] = operation.split(' ');
  for (const within of [document, managementDocument]) {
    const described = within.paths[describedPath(path)]?.[method.toLowerCase()];
    if (described !== undefined) return { described, within };
  }
  throw new Error(`${operation} is not described.`);
}

/** Finds the description of an operation's answer; throws if the status is not described. */
export function responseOf(operation: string, status: number) {
  const { described, within } = descriptionOf(operation);
  const found = described.responses[status];
  if (found === undefined) throw new Error(`${operation} does not know the status ${status}.`);
  // JSON, except for one answer that is text.
  const [media] = Object.values(response.parse(resolve(found, within)).content);
  if (media === undefined) throw new Error(`${operation} says nothing of what its ${status} has.`);
  return media;
}

export const refusalsOf = (operation: string, status: number): readonly unknown[] =>
  Object.values(responseOf(operation, status).examples ?? {}).map(({ value }) => value);

/** The documented error messages of an operation and status. */
export const errorsOf = (operation: string, status: number): readonly string[] =>
  refusalsOf(operation, status).map((value) => z.object({ error: z.string() }).parse(value).error);

/** Checkers of answers, by operation and status, because making one is slower than using it. */
const answerCheckers = new Map<string, z.core.$ZodType>();

function answerCheckerOf(operation: string, status: number): z.core.$ZodType {
  const key = `${operation} ${status}`;
  const known = answerCheckers.get(key);
  if (known !== undefined) return known;
  const made = checkerOf(responseOf(operation, status).schema, descriptionOf(operation).within);
  answerCheckers.set(key, made);
  return made;
}

/**
 * Checks an answer against its operation's description.
 *
 * @throws Error if the status is not described, or the body differs
 */
export function checkAnswer(
  operation: string,
  answer: { readonly status: number; readonly json: unknown },
): void {
  const { success, error } = z.safeParse(answerCheckerOf(operation, answer.status), answer.json);
  if (!success) throw new Error(`${operation}, ${answer.status}:\n${z.prettifyError(error)}`);
}
