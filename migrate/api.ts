/**
 * The client of both APIs. It uses no code of this service, because either side may be any QStash-compatible API. Requests are
 * retried, so each must be repeatable.
 */
import { setTimeout } from 'node:timers/promises';
import * as z from 'zod/mini';
import { MigrationError, Refusal } from './migrationError.ts';
import type { Place } from './options.ts';

export interface Api {
  readonly title: string;
  /**
   * @returns undefined if it does not exist
   * @throws MigrationError
   */
  read<T>(path: string, shape: z.ZodMiniType<T>): Promise<T | undefined>;
  /**
   * Reads all pages of a list.
   *
   * @returns undefined if the API has no such list
   * @throws MigrationError
   */
  list<T>(path: string, shape: z.ZodMiniType<T>): Promise<readonly T[] | undefined>;
  /** @throws Refusal if the API refuses only this change; MigrationError otherwise */
  change(method: string, path: string, init?: ChangeInit): Promise<void>;
}

export interface ChangeInit {
  readonly headers?: Headers;
  /** Objects are sent as JSON. */
  readonly body?: object | Uint8Array<ArrayBuffer>;
}

/** The time for an answer, to its last byte. */
const answerLimitMs = 30_000;
const mostTries = 5;
/** The wait before the second try. It doubles with each try, unless the API says how long. */
const firstWaitMs = 200;
/** The longest wait. If an API asks for more, the request fails. */
const longestWaitMs = 60_000;

const again = new Set([429, 500, 502, 503, 504]);
/** Statuses that refuse one thing, but not all requests. */
const refusals = new Set([400, 403, 404, 405, 409, 412, 413, 422]);

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/** @param title the API's name in errors, such as "The source" */
export function openApi(title: string, { url, token }: Place): Api {
  const name = `${title}, ${url},`;
  /** Makes one line of a text, without the token and control characters. */
  const shown = (text: string): string =>
    text
      .replaceAll(token, '…')
      .replaceAll(/[\p{Cc}\p{Cf}]+/gu, ' ')
      .slice(0, 300);

  async function ask(method: string, path: string, init: ChangeInit = {}): Promise<Answer> {
    const headers = new Headers(init.headers);
    headers.set('authorization', `Bearer ${token}`);
    const { body } = init;
    const isJson = body !== undefined && !(body instanceof Uint8Array);
    if (isJson) headers.set('content-type', 'application/json');
    const sent = isJson ? JSON.stringify(body) : body;
    for (let tries = 1; ; tries += 1) {
      const answer = await tryOnce(path, {
        method,
        headers,
        ...(sent !== undefined && { body: sent }),
      });
      const isOver = tries === mostTries;
      if (answer instanceof Error) {
        if (isOver) throw new MigrationError(`${name} does not answer: ${shown(reasonOf(answer))}.`);
        await setTimeout(waitMs(undefined, tries));
        continue;
      }
      if (!again.has(answer.status)) return answer;
      const wait = waitMs(answer.headers.get('retry-after') ?? undefined, tries);
      if (isOver || wait > longestWaitMs) {
        const asks = wait > longestWaitMs ? `, and asks for a wait of ${Math.ceil(wait / 1000)} s` : '';
        throw new MigrationError(`${name} answered ${said(answer)} to ${method} ${path}${asks}.`);
      }
      await setTimeout(wait);
    }
  }

  async function tryOnce(path: string, init: RequestInit): Promise<Answer | Error> {
    try {
      const signal = AbortSignal.timeout(answerLimitMs);
      const response = await fetch(`${url}${path}`, { ...init, redirect: 'manual', signal });
      return { status: response.status, headers: response.headers, text: await response.text() };
    } catch (error) {
      // No connection, or a timeout. Other errors of `fetch` are bugs in this file.
      if (error instanceof Error && (error.name === 'TimeoutError' || error.cause !== undefined))
        return error;
      throw error;
    }
  }

  /** The status and the API's message, without a full stop. */
  function said({ status, text }: Answer): string {
    const { error } = errorBody.safeParse(jsonOrUndefined(text)).data ?? {};
    return error === undefined ? String(status) : `${status} (${shown(error).replace(/[\s.]+$/, '')})`;
  }

  /** @returns undefined for 404 and 405 */
  async function get(path: string): Promise<Answer | undefined> {
    const answer = await ask('GET', path);
    if (answer.status === 404 || answer.status === 405) return undefined;
    if (answer.status === 200) return answer;
    if (answer.status === 401) throw refusedToken(answer);
    throw new MigrationError(`${name} answered ${said(answer)} to GET ${path}.`);
  }

  const refusedToken = (answer: Answer): MigrationError =>
    new MigrationError(`${name} refuses the token: ${said(answer)}.`);

  function parse<T>(path: string, text: string, shape: z.ZodMiniType<T>): T {
    const parsed = shape.safeParse(jsonOrUndefined(text));
    if (parsed.success) return parsed.data;
    const [issue] = parsed.error.issues;
    const where = issue === undefined || issue.path.length === 0 ? '' : ` at ${issue.path.join('.')}`;
    throw new MigrationError(
      `${name} is not a QStash-compatible API, or another version of it: its answer to GET ${path} cannot be read${shown(where)}.`,
    );
  }

  return {
    title,
    read: async (path, shape) => {
      const answer = await get(path);
      return answer && parse(path, answer.text, shape);
    },
    list: async (path, shape) => {
      const all: z.infer<typeof shape>[] = [];
      const seen = new Set<string>();
      for (let cursor = ''; ;) {
        const page = cursor === '' ? path : `${path}?cursor=${encodeURIComponent(cursor)}`;
        const answer = await get(page);
        if (answer === undefined && seen.size === 0) return undefined;
        if (answer === undefined)
          throw new MigrationError(`${name} has lost the rest of the list at ${path}.`);
        all.push(...parse(path, answer.text, z.array(shape)));
        const next = answer.headers.get('upstash-cursor') ?? answer.headers.get('svc-cursor') ?? '';
        if (next === '') return all;
        if (seen.has(next)) throw new MigrationError(`${name} repeats the list at ${path} for ever.`);
        seen.add(next);
        cursor = next;
      }
    },
    change: async (method, path, init) => {
      const answer = await ask(method, path, init);
      if (answer.status >= 200 && answer.status < 300) return;
      if (answer.status === 401) throw refusedToken(answer);
      const sentence = `${title} answered ${said(answer)}`;
      if (refusals.has(answer.status)) throw new Refusal(sentence);
      throw new MigrationError(`${name} answered ${said(answer)} to ${method}.`);
    },
  };
}

const errorBody = z.object({ error: z.string() });

function jsonOrUndefined(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Not JSON, so the text has another shape.
    return undefined;
  }
}

/** `fetch` itself only says "fetch failed"; its cause has the reason. */
function reasonOf(error: Error): string {
  if (error.name === 'TimeoutError') return `no answer within ${answerLimitMs / 1000} s`;
  const { cause } = error;
  if (!(cause instanceof Error)) return error.message;
  return cause.message === '' && 'code' in cause ? String(cause.code) : cause.message;
}

/** @param retryAfter seconds, or a date */
function waitMs(retryAfter: string | undefined, tries: number): number {
  const otherwise = firstWaitMs * 2 ** (tries - 1);
  if (retryAfter === undefined) return otherwise;
  const ms = /^\d+$/.test(retryAfter) ? Number(retryAfter) * 1000 : Date.parse(retryAfter) - Date.now();
  return Number.isNaN(ms) ? otherwise : Math.max(0, ms);
}
