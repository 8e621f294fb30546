/** Turns an operation and named values into a request. */
import { Ending, jsonOrText } from '../../cli/commandLine.ts';
import type { Parameter } from '../../lambdas/http/openapi/parts/parameters.ts';
import type { ApiOperation } from './operations.ts';

/** Names with values, in order. Filters may be repeated. */
export type Values = readonly (readonly [name: string, value: unknown])[];

export interface Request {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array<ArrayBuffer>;
}

const prefix = 'svc-';
/** Path parameters, filters and fields have short names; a header `Svc-Retries` is also `retries`. */
const shortOf = ({ name, in: place }: Parameter): string =>
  place === 'header' ? name.toLowerCase().replace(prefix, '') : name;

const isDuplicate = ({ name, in: place }: Parameter): boolean => place === 'query' && name.startsWith(prefix);

/** The names that an operation takes. A name with `*` at its end means all that begin with the rest. */
export function namesOf({ parameters, fields = {} }: ApiOperation): readonly string[] {
  const own = parameters.filter((one) => one.deprecated !== true && !isDuplicate(one)).map(shortOf);
  return [...new Set([...own, ...Object.keys(fields)])];
}

const matches = (pattern: string, name: string): boolean =>
  pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : pattern === name;

function parameterOf({ parameters }: ApiOperation, name: string): Parameter | undefined {
  const own = parameters.find(({ name: known, in: place }) => place !== 'header' && known === name);
  if (own !== undefined && !isDuplicate(own)) return own;
  const lower = name.toLowerCase();
  return parameters.find(
    (one) => one.in === 'header' && (matches(shortOf(one), lower) || matches(one.name.toLowerCase(), lower)),
  );
}

const textOf = (value: unknown): string =>
  typeof value === 'string' ? value : (JSON.stringify(value) ?? String(value));

/** Dates are Unix milliseconds; a text such as 2026-01-01T00:00Z becomes them. */
function filterText(name: string, value: unknown): string {
  const text = Array.isArray(value) ? value.map(textOf).join(',') : textOf(value);
  const moment = /(Date|^from|^to)$/.test(name) && /^\d{4}-\d\d/.test(text) ? Date.parse(text) : NaN;
  return Number.isNaN(moment) ? text : moment.toString();
}

function filledPath({ id, path }: ApiOperation, variables: ReadonlyMap<string, string>): string {
  return path.replaceAll(/\{(\w+)(\+?)\}/g, (_all, name: string, rest: string) => {
    const value = variables.get(name) ?? '';
    if (value === '') throw new Ending(`${name} is missing; ${id} requires it.`, 2);
    // A path's segment must not become another path.
    if (/^\.{1,2}$/.test(value)) throw new Ending(`${name} is "${value}"; allowed is a name or an id.`, 2);
    const encoded = encodeURIComponent(value);
    return rest === '' || /^https?:/i.test(value)
      ? encoded
      : encoded.replaceAll('%2F', '/').replaceAll('%3A', ':');
  });
}

/**
 * @param data the whole body
 * @throws Ending for an unknown name, or a missing value
 */
export function requestOf(operation: ApiOperation, values: Values, data?: Request['body']): Request {
  const variables = new Map<string, string>();
  const query = new URLSearchParams();
  const headers: Record<string, string> = {};
  const fields: Record<string, unknown> = {};
  for (const [name, value] of values) {
    const parameter = parameterOf(operation, name);
    if (parameter === undefined) {
      if (operation.fields?.[name] === undefined) throw unknown(operation, name);
      fields[name] = typeof value === 'string' ? jsonOrText(value) : value;
    } else if (parameter.in === 'path') variables.set(parameter.name, textOf(value));
    else if (parameter.in === 'query') query.append(name, filterText(name, value));
    else headers[name.toLowerCase().startsWith(prefix) ? name : `Svc-${name}`] = textOf(value);
  }
  const missing = operation.parameters.find(
    ({ name, in: place, required }) => place === 'query' && required && !query.has(name),
  );
  if (missing !== undefined) throw new Ending(`${missing.name} is missing; ${operation.id} requires it.`, 2);
  const hasFields = Object.keys(fields).length > 0;
  if (data !== undefined && operation.fields === undefined)
    throw new Ending(`${operation.id} takes no body.`, 2);
  if (data !== undefined && hasFields)
    throw new Ending(
      `${Object.keys(fields)[0] ?? ''} is given beside a whole body; allowed is one of them.`,
      2,
    );
  const body = data ?? (hasFields ? JSON.stringify(fields) : undefined);
  const path = filledPath(operation, variables);
  return {
    method: operation.method,
    path: query.size === 0 ? path : `${path}?${query.toString()}`,
    headers: { ...(isJson(body) && { 'content-type': 'application/json' }), ...headers },
    ...(body !== undefined && { body }),
  };
}

const isJson = (body: Request['body']): boolean =>
  typeof body === 'string' && typeof jsonOrText(body) !== 'string';

function unknown(operation: ApiOperation, name: string): Ending {
  const names = namesOf(operation);
  const shown = names.length > 30 ? `${names.slice(0, 30).join(', ')}, …` : names.join(', ');
  return new Ending(
    `${name} is not a field of ${operation.id}; ${names.length === 0 ? 'it takes none' : `allowed are ${shown}`}.`,
    2,
  );
}
