/** Calls the API. Answers are checked against the API's own shapes. */
import * as z from 'zod/mini';
import type { Readable } from '../../../lambdas/options/option.ts';
import type { CodeOf } from '../../../lambdas/error/errorCodes.ts';
import { credentialsOf, signOut, type Api } from '../session.ts';
import { noteAnswer, noteSilence } from './live.ts';

/** The base of the API's addresses: this file is served as `<base>console/<file>`. */
export const base = new URL('..', import.meta.url);

/** The base URL in the form that clients take, without a slash at its end. */
export const baseUrl = base.href.replace(/\/$/, '');

export interface Request {
  /** GET when absent. */
  readonly method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** The path from `v2/` on, with encoded variables: see {@link path}. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string | number | undefined>> | URLSearchParams;
  readonly headers?: readonly (readonly [string, string])[];
  /** Text or bytes; anything else is sent as JSON. */
  readonly body?: unknown;
  readonly signal?: AbortSignal;
  /** `messaging` when absent. */
  readonly api?: Api;
}

/** A refusal of the API, or no answer at all: then its status is 0. */
export class Refusal extends Error {
  readonly status: number;
  /** A code of the API's table, or of a newer one; undefined when something else than the API answered. */
  readonly code: string | undefined;

  constructor(status: number, message: string, code?: string) {
    super(message);
    this.name = 'Refusal';
    this.status = status;
    this.code = code;
  }
}

/** Makes a path of a template's literal parts and encoded variables: ``path`v2/messages/${id}` ``. */
export const path = (parts: TemplateStringsArray, ...variables: readonly string[]): string =>
  parts.reduce((made, part, index) => made + segment(variables[index - 1] ?? '') + part);

/**
 * Encodes a segment. A URL drops the segments `.` and `..`, encoded or not, and would name something else. Encoded twice they name
 * nothing.
 */
const segment = (text: string): string =>
  /^\.\.?$/.test(text) ? text.replaceAll('.', '%252E') : encodeURIComponent(text);

const paged = z.object({ cursor: z.optional(z.string()) });
const refusal = z.object({ error: z.string(), code: z.optional(z.string()) });

/**
 * The refusals of credentials. A 401 without one of these comes from something else, such as a proxy, and the credentials may be
 * good.
 */
const ofCredentials: Readonly<Record<CodeOf<401>, true>> = {
  token_missing: true,
  token_invalid: true,
  token_expired: true,
  wrong_region: true,
  account_inactive: true,
  credentials_missing: true,
  credentials_invalid: true,
};

/** The longest time of a request: a little more than the gateway gives the API. */
const memoryTimeoutMs = 35_000;

/** An answer, and the cursor of the next page: undefined at the end, and for an answer that is no list. */
export interface PageOf<T> {
  readonly answer: T;
  readonly cursor: string | undefined;
}

/** Makes the query of the page at a cursor. For an API with links in place of cursors, the cursor is the link's whole query. */
export function queryAt(cursor: string, query: Request['query'] = {}): URLSearchParams {
  if (cursor.startsWith('?')) return new URLSearchParams(cursor);
  const next = new URLSearchParams(queryPairs(query));
  next.set('cursor', cursor);
  return next;
}

const queryPairs = (query: NonNullable<Request['query']>): [string, string][] =>
  (query instanceof URLSearchParams ? [...query] : Object.entries(query)).flatMap(([name, value]) =>
    value === undefined || value === '' ? [] : [[name, String(value)] as [string, string]],
  );

/** Requests the pages of a list, or the parts of a bulk change, one after another until the end. */
export async function* pagesOf<Shape extends z.ZodMiniType>(
  shape: Shape,
  request: Request,
): AsyncGenerator<Readable<z.infer<Shape>>, undefined> {
  let page = await askForPage(shape, request);
  yield page.answer;
  while (page.cursor !== undefined) {
    page = await askForPage(shape, { ...request, query: queryAt(page.cursor, request.query) });
    yield page.answer;
  }
}

/**
 * Calls the API with the credentials of this tab.
 *
 * @throws Refusal with the API's sentence. A refusal of the credentials also ends the session.
 */
export async function askForPage<Shape extends z.ZodMiniType>(
  shape: Shape,
  request: Request,
): Promise<PageOf<Readable<z.infer<Shape>>>> {
  const api = request.api ?? 'messaging';
  try {
    return await askAs(credentialsOf(api) ?? '', shape, request);
  } catch (error) {
    if (error instanceof Refusal && Object.hasOwn(ofCredentials, error.code ?? ''))
      signOut(api, error.message);
    throw error;
  }
}

/** Calls the API like {@link askForPage}, for answers without a cursor. */
export const ask = async <Shape extends z.ZodMiniType>(
  shape: Shape,
  request: Request,
): Promise<Readable<z.infer<Shape>>> => (await askForPage(shape, request)).answer;

/** Calls the API with other credentials than those of this tab, to try them. */
export async function askAs<Shape extends z.ZodMiniType>(
  authorization: string,
  shape: Shape,
  { method = 'GET', path, query = {}, headers = [], body, signal }: Request,
): Promise<PageOf<Readable<z.infer<Shape>>>> {
  const url = new URL(path, base);
  for (const [name, value] of queryPairs(query)) url.searchParams.append(name, value);
  const isJson = body !== undefined && typeof body !== 'string' && !(body instanceof Uint8Array);
  const timeout = AbortSignal.timeout(memoryTimeoutMs);
  const response = await fetch(url, {
    method,
    headers: headersOf([
      ['authorization', authorization],
      ...(isJson ? [['content-type', 'application/json'] as const] : []),
      ...headers,
    ]),
    body: isJson ? JSON.stringify(body) : ((body as BodyInit | undefined) ?? null),
    signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
    cache: 'no-store',
    credentials: 'omit',
    redirect: 'error',
  }).catch((error: unknown) => {
    if (signal?.aborted === true) throw error;
    noteSilence();
    throw new Refusal(
      0,
      timeout.aborted
        ? 'The service did not answer in time.'
        : 'The service cannot be reached. Is it running, and is this machine online?',
    );
  });
  noteAnswer();
  const answer = await response.text();
  const json = parsed(answer);
  if (!response.ok) {
    const read = refusal.safeParse(json);
    if (read.success) throw new Refusal(response.status, read.data.error, read.data.code);
    throw new Refusal(response.status, `The service answered with status ${response.status}.`);
  }
  const read = shape.safeParse(json);
  if (read.success) {
    // A list that is an array has its cursor in a header, and the list of accounts has a link.
    const [, link] = /^<(\?.*)>; rel="next"$/.exec(response.headers.get('link') ?? '') ?? [];
    const cursor = link ?? response.headers.get('svc-cursor') ?? paged.safeParse(json).data?.cursor;
    // The last cursor of runs is empty.
    return { answer: read.data as Readable<z.infer<Shape>>, cursor: cursor === '' ? undefined : cursor };
  }
  const [issue] = read.error.issues;
  const where = issue === undefined ? '' : ` (${issue.path.join('.')}: ${issue.message})`;
  throw new Refusal(
    response.status,
    `The answer is not as this page expects it. Load the page again: it may be older than the service.${where}`,
  );
}

/** @throws Refusal for characters that HTTP does not allow in a header */
function headersOf(pairs: readonly (readonly [name: string, value: string])[]): Headers {
  const headers = new Headers();
  for (const [name, value] of pairs) {
    try {
      headers.append(name, value);
    } catch {
      throw new Refusal(0, `The header ${name} is none that HTTP allows, or its value has other characters.`);
    }
  }
  return headers;
}

function parsed(text: string): unknown {
  if (text === '') return {};
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The sentence of any error, for the user. */
export const sentenceOf = (error: unknown): string =>
  error instanceof Error ? error.message : String(error);
