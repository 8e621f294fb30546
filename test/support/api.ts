import { randomUUID } from 'node:crypto';
import * as z from 'zod/mini';
import { eventually } from './eventually.ts';
import { call, messageIdOf, publish, service, type Answer } from './publish.ts';

/** Makes a unique name, because tests share an account. */
export const unique = (what: string): string => `${what}-${randomUUID().slice(0, 8)}`;

interface ApiInit {
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly token?: string;
  readonly url?: string;
}

export const api = (method: string, path: string, init: ApiInit = {}): Promise<Answer> =>
  call(
    path,
    {
      method,
      headers: { authorization: `Bearer ${init.token ?? service.token}`, ...init.headers },
      ...(init.body === undefined ? {} : { body: JSON.stringify(init.body) }),
    },
    init.url,
  );

/** Writes filters as a query. A list becomes several values. */
export function query(
  filters: Readonly<Record<string, string | number | readonly string[] | undefined>>,
): string {
  const pairs = Object.entries(filters).flatMap(([name, values]) =>
    values === undefined ? [] : [values].flat().map((value): [string, string] => [name, String(value)]),
  );
  return `?${new URLSearchParams(pairs).toString()}`;
}

export const logEntry = z.looseObject({
  time: z.number(),
  state: z.string(),
  messageId: z.string(),
  url: z.string(),
});
export type LogEntry = z.infer<typeof logEntry>;
const logPage = z.object({ logs: z.array(logEntry), cursor: z.optional(z.string()) });

const messageShape = z.looseObject({ messageId: z.string(), url: z.string(), callerIP: z.string() });
const deadLetter = z.looseObject({ dlqId: z.string(), messageId: z.string(), responseStatus: z.number() });
export type DeadLetter = z.infer<typeof deadLetter>;
const dlqPage = z.object({ messages: z.array(deadLetter), cursor: z.optional(z.string()) });

/** Returns an answer's JSON; throws if its status is not the expected one. */
export async function ok(answer: Promise<Answer>, status = 200): Promise<unknown> {
  const { status: given, json } = await answer;
  if (given !== status) throw new Error(`Status ${given}: ${JSON.stringify(json)}`);
  return json;
}

const namedToken = z.object({ id: z.string(), token: z.string() });

/** Makes a named token, such as `{ scope: 'read' }`. */
export const makeToken = async (fields: object, init: ApiInit = {}): Promise<z.infer<typeof namedToken>> =>
  namedToken.parse(
    await ok(api('POST', '/v2/tokens', { ...init, body: { name: unique('token'), ...fields } }), 201),
  );

export const getMessage = async (messageId: string): Promise<z.infer<typeof messageShape>> =>
  messageShape.parse(await ok(api('GET', `/v2/messages/${messageId}`)));

type Filters = Parameters<typeof query>[0];

export const listLogs = async (filters: Filters, init?: ApiInit): Promise<z.infer<typeof logPage>> =>
  logPage.parse(await ok(api('GET', `/v2/logs${query(filters)}`, init)));

export const listDlq = async (filters: Filters, init?: ApiInit): Promise<z.infer<typeof dlqPage>> =>
  dlqPage.parse(await ok(api('GET', `/v2/dlq${query(filters)}`, init)));

/** Waits until the log has this many matching entries. */
export const logged = async (filters: Filters, count: number): Promise<readonly LogEntry[]> =>
  (
    await eventually(
      () => listLogs(filters),
      ({ logs }) => logs.length >= count,
    )
  ).logs;

/** Waits until the dead letter queue has this many matching entries. */
export const deadLettered = async (
  filters: Filters,
  count: number,
  init?: ApiInit,
): Promise<readonly DeadLetter[]> =>
  (
    await eventually(
      () => listDlq(filters, init),
      ({ messages }) => messages.length >= count,
    )
  ).messages;

/** Publishes a message that is due long after the test. Returns its id. */
export const publishDelayed = async (
  destination: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<string> =>
  messageIdOf(await publish(destination, { body: 'later', headers: { 'Svc-Delay': '10m', ...headers } }));

export async function isWaiting(messageId: string): Promise<boolean> {
  const { status } = await api('GET', `/v2/messages/${messageId}`);
  if (status !== 200 && status !== 404) throw new Error(`Status ${status}`);
  return status === 200;
}
