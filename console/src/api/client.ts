import * as z from 'zod/mini';
import type { Readable } from '../../../lambdas/options/option.ts';
import type { CodeOf } from '../../../lambdas/error/errorCodes.ts';
import { credentialsOf, signOut, type Api } from '../session.ts';
import { parsed } from './json.ts';
import { changeLive } from './live.ts';

/** The base URL of the API: this file is served as `<base>console/<file>`. */
const base = new URL('..', import.meta.url);

/** The base URL as clients expect it, without a slash at the end. */
export const baseUrl = base.href.replace(/\/$/, '');

/** The URL of a page of the documents, which are beside the console. */
export const documentUrl = (page: string, id = ''): URL =>
  new URL(`console/${page}.html${id === '' ? '' : `#${id}`}`, base);

export interface Request {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** The path, from `v2/`, with encoded variables: see {@link path}. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string | number | undefined>> | URLSearchParams;
  readonly headers?: readonly (readonly [string, string])[];
  /** Text or bytes. Other values are sent as JSON. */
  readonly body?: unknown;
  readonly signal?: AbortSignal;
  readonly api?: Api;
}

/** An error of the API. Its status is 0 if there was no answer. */
export class Refusal extends Error {
  readonly status: number;
  /** The API's error code; undefined if something other than the API answered. */
  readonly code: string | undefined;

  constructor(status: number, message: string, code?: string) {
    super(message);
    this.name = 'Refusal';
    this.status = status;
    this.code = code;
  }
}

/** Encodes the variables of a path: ``path`v2/messages/${id}` ``. */
export const path = (parts: TemplateStringsArray, ...variables: readonly string[]): string =>
  parts.reduce((made, part, index) => made + segment(variables[index - 1] ?? '') + part);

/**
 * Encodes a segment. Browsers drop `.` and `..`, even if encoded, and would request another path. So these
 * are encoded twice, and match nothing.
 */
const segment = (text: string): string =>
  /^\.\.?$/.test(text) ? text.replaceAll('.', '%252E') : encodeURIComponent(text);

const paged = z.object({ cursor: z.optional(z.string()) });
const refusal = z.object({ error: z.string(), code: z.optional(z.string()) });

/**
 * Codes that mean that the credentials are wrong. Any other 401 may come from a proxy, so the user stays
 * signed in.
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

/** The timeout of a request: slightly longer than the gateway's timeout for the API. */
const requestTimeoutMs = 35_000;

interface PageOf<T> {
  readonly answer: T;
  readonly cursor: string | undefined;
}

/** Makes the query of the next page. If the API returns a link, the cursor is the link's whole query. */
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

/** The most empty pages in a row that are requested; each takes about a second. */
const mostEmpty = 30;

/**
 * Requests pages until one has entries or a count. An empty page is not the end, because the API ends a page
 * after a time limit.
 */
export async function askUntilFound<Shape extends z.ZodMiniType>(shape: Shape, request: Request) {
  let page = await askForPage(shape, request);
  for (let empty = 1; empty < mostEmpty && page.cursor !== undefined && isEmpty(page.answer); empty += 1)
    page = await askForPage(shape, { ...request, query: queryAt(page.cursor, request.query) });
  return page;
}

const isEmpty = (answer: unknown): boolean =>
  !Object.values(Array.isArray(answer) ? [answer] : (answer ?? {})).some(
    (value: unknown) => typeof value === 'number' || (Array.isArray(value) && value.length > 0),
  );

export async function* pagesOf<Shape extends z.ZodMiniType>(shape: Shape, request: Request) {
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
 * @throws Refusal with the API's message. Refused credentials also end the session.
 */
async function askForPage<Shape extends z.ZodMiniType>(shape: Shape, request: Request) {
  const api = request.api ?? 'messaging';
  const used = credentialsOf(api) ?? '';
  try {
    return await askAs(used, shape, request);
  } catch (error) {
    const isOfCredentials = error instanceof Refusal && Object.hasOwn(ofCredentials, error.code ?? '');
    // The credentials may have been changed since the request.
    if (isOfCredentials && used === credentialsOf(api)) signOut(api, error.message);
    throw error;
  }
}

export const ask = async <Shape extends z.ZodMiniType>(shape: Shape, request: Request) =>
  (await askForPage(shape, request)).answer;

export async function askAs<Shape extends z.ZodMiniType>(
  authorization: string,
  shape: Shape,
  { method = 'GET', path, query = {}, headers = [], body, signal }: Request,
): Promise<PageOf<Readable<z.infer<Shape>>>> {
  const url = new URL(path, base);
  for (const [name, value] of queryPairs(query)) url.searchParams.append(name, value);
  const isJson = body !== undefined && typeof body !== 'string' && !(body instanceof Uint8Array);
  const timeout = AbortSignal.timeout(requestTimeoutMs);
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
    changeLive({ isLost: true });
    throw new Refusal(
      0,
      timeout.aborted
        ? 'The service did not answer in time.'
        : 'The service cannot be reached. Is it running, and is this machine online?',
    );
  });
  changeLive({ answeredAt: Date.now(), isLost: false });
  const answer = await response.text();
  const json = answer === '' ? {} : parsed(answer);
  if (!response.ok) {
    const read = refusal.safeParse(json);
    if (read.success) throw new Refusal(response.status, read.data.error, read.data.code);
    throw new Refusal(response.status, `The service answered with status ${response.status}.`);
  }
  const read = shape.safeParse(json);
  if (read.success) {
    // If the answer is an array, the cursor is in a header; for accounts, it is a link.
    const [, link] = /^<(\?.*)>; rel="next"$/.exec(response.headers.get('link') ?? '') ?? [];
    const cursor = link ?? response.headers.get('svc-cursor') ?? paged.safeParse(json).data?.cursor;
    // The last page of the list of runs has an empty cursor.
    return { answer: read.data as Readable<z.infer<Shape>>, cursor: cursor === '' ? undefined : cursor };
  }
  const [issue] = read.error.issues;
  const where = issue === undefined ? '' : ` (${issue.path.join('.')}: ${issue.message})`;
  throw new Refusal(
    response.status,
    `The answer is not what this page expects. Reload the page: it may be older than the service.${where}`,
  );
}

/** @throws Refusal if a value has characters that HTTP doesn't allow in headers */
function headersOf(pairs: readonly (readonly [name: string, value: string])[]): Headers {
  const headers = new Headers();
  for (const [name, value] of pairs) {
    try {
      headers.append(name, value);
    } catch {
      throw new Refusal(
        0,
        `The header ${name} is not a valid HTTP header, or its value has characters that are not allowed.`,
      );
    }
  }
  return headers;
}

export const sentenceOf = (error: unknown): string =>
  error instanceof Error ? error.message : String(error);

/** Why a request failed, for the user. */
export interface Problem {
  readonly sentence: string;
  /** The API's error code, which the documents explain; undefined if something other than the API answered. */
  readonly code: string | undefined;
}

export const problemOf = (error: unknown): Problem => ({
  sentence: sentenceOf(error),
  code: error instanceof Refusal ? error.code : undefined,
});
