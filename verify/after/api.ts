import * as z from 'zod';
import { Shortfall } from '../check.ts';

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

export interface Request {
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array<ArrayBuffer>;
  readonly authorization?: string;
}

/** The timeout of a request. The function behind the API has 28 s, and a proxy may add some. */
const longestMs = 60_000;

/** Sends a request below a base URL, and returns any answer. */
export type Send = (method: string, path: string, request?: Request) => Promise<Answer>;

export const sender =
  (base: string, signal: AbortSignal): Send =>
  async (method, path, { headers = {}, body, authorization } = {}) => {
    const response = await fetch(`${base}${path}`, {
      method,
      headers: { ...headers, ...(authorization !== undefined && { authorization }) },
      ...(body !== undefined && { body }),
      signal: AbortSignal.any([signal, AbortSignal.timeout(longestMs)]),
      redirect: 'manual',
    });
    return { status: response.status, headers: response.headers, text: await response.text() };
  };

/** Sends requests with credentials, and reads JSON. */
export interface Client {
  readonly send: Send;
  /** @throws Shortfall if the status is not 2XX or the answer has another shape */
  readonly read: <T>(shape: z.ZodType<T>, method: string, path: string, request?: Request) => Promise<T>;
}

export function clientOf(send: Send, authorization: string): Client {
  const authorized: Send = (method, path, request) => send(method, path, { authorization, ...request });
  return {
    send: authorized,
    read: async (shape, method, path, request) => {
      const { status, text } = await authorized(method, path, request);
      const what = `${method} ${path.slice(0, 80)}`;
      if (status < 200 || status > 299)
        throw new Shortfall(`${what} was answered ${status}: ${text.slice(0, 300)}`);
      const read = shape.safeParse(text === '' ? undefined : JSON.parse(text));
      if (!read.success)
        throw new Shortfall(`${what} was answered with another form than usual: ${text.slice(0, 300)}`);
      return read.data;
    },
  };
}

export const basic = (user: string, password: string): string =>
  `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;
export const bearer = (token: string): string => `Bearer ${token}`;

export const anything = z.unknown();

export const post = (client: Client, path: string, body: object, method = 'POST'): Promise<unknown> =>
  client.read(anything, method, path, jsonOf(body));

export const jsonOf = (body: object): Request => ({
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(body),
});

export const published = z.object({ messageId: z.string() });

export async function publish(client: Client, destination: string, message: Request): Promise<string> {
  const { messageId } = await client.read(published, 'POST', `/v2/publish/${destination}`, message);
  return messageId;
}

const log = z.object({ logs: z.array(z.object({ state: z.string() })) });

export async function statesOf(client: Client, messageId: string): Promise<readonly string[]> {
  const { logs } = await client.read(log, 'GET', `/v2/logs?messageId=${messageId}`);
  return logs.map(({ state }) => state);
}

const withoutSlash = (url: string): string => url.replace(/\/$/, '');

/**
 * The URL at which a URL of AWS can be reached. On an emulator, the server `SVC_VERIFY_FRONT` has each API at a path that
 * begins with its host name.
 */
export function reachable(url: string, front: string | undefined): string {
  if (front === undefined) return withoutSlash(url);
  const { host, pathname } = new URL(url);
  return withoutSlash(`${front}/${host}${pathname}`);
}
