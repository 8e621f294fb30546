/** The operations of the messaging API, from the table that also answers requests and makes the API's description. */
import { bulkOperationOf } from '../../lambdas/http/route.ts';
import { routes } from '../../lambdas/http/routes.ts';
import { describeApi, describedPath } from '../../lambdas/http/openapi/document.ts';
import type { Parameter } from '../../lambdas/http/openapi/parts/parameters.ts';

export interface ApiOperation {
  readonly id: string;
  readonly method: string;
  /** As in the table of routes: `{name+}` is the rest of the path. */
  readonly path: string;
  readonly summary: string;
  readonly description: string;
  readonly parameters: readonly Parameter[];
  /** The fields of its body, if it takes one. */
  readonly fields?: Readonly<Record<string, object>>;
  /** Whether it changes nothing, not even through a webhook. */
  readonly isRead: boolean;
  /** Whether it answers with a token or a key. */
  readonly answersSecret: boolean;
  /** Whether it concerns many entries, all without filters. */
  readonly isBulk: boolean;
  /** Whether it deletes something, replaces a secret, or concerns many entries. */
  readonly needsConsent: boolean;
}

const document = describeApi();
const schemas: Readonly<Record<string, { readonly properties?: Readonly<Record<string, object>> }>> =
  document.components.schemas;
const shared: Readonly<Record<string, Parameter>> = document.components.parameters;

const last = (reference: string): string => reference.split('/').at(-1) ?? '';

export const operations: readonly ApiOperation[] = routes.flatMap((route): readonly ApiOperation[] => {
  const { method, path } = route;
  const described = document.paths[describedPath(path)]?.[method.toLowerCase()];
  if (described === undefined) return [];
  const { operationId: id, summary, description = '', parameters, requestBody } = described;
  const json = requestBody?.content['application/json']?.schema;
  const isBulk = bulkOperationOf(route) !== undefined;
  return [
    {
      id,
      method,
      path,
      summary,
      description,
      parameters: parameters.flatMap((one) => ('$ref' in one ? (shared[last(one.$ref)] ?? []) : one)),
      ...(requestBody && {
        fields: (json && '$ref' in json && schemas[last(json.$ref)]?.properties) || {},
      }),
      isRead: method === 'GET' && route.access === 'read',
      answersSecret: /rotate|^\/v2\/keys/.test(path) || (method === 'POST' && path === '/v2/tokens'),
      isBulk,
      needsConsent: isBulk || method === 'DELETE' || /rotate/i.test(path),
    },
  ];
});

export const operationOf = (id: string): ApiOperation | undefined => operations.find((one) => one.id === id);

/** The names of the variables in its path, in order. */
export const variablesOf = ({ path }: ApiOperation): readonly string[] =>
  [...path.matchAll(/\{(\w+)/g)].flatMap(([, name]) => name ?? []);

export function knownOperation(id: string): ApiOperation {
  const found = operationOf(id);
  if (found === undefined) throw new Error(`There is no operation ${id}.`);
  return found;
}

export const firstSentence = (text: string): string => /^.+?[.:](?= |$)/.exec(text)?.[0] ?? text;
