/**
 * Takes messages from the service and makes them as requests to a local address. A message is taken only when its request can be
 * made at once, and gets more time while the request takes longer. On Ctrl-C nothing more is taken, and what was taken ends.
 */
import http from 'node:http';
import https from 'node:https';
import { setTimeout as sleep } from 'node:timers/promises';
import { buffer } from 'node:stream/consumers';
import * as z from 'zod';
import type { ListenOptions } from './listenOptions.ts';

const taken = z.object({
  messageId: z.string(),
  retried: z.number(),
  method: z.string(),
  headers: z.record(z.string(), z.array(z.string())),
  body: z.string().optional(),
  bodyBase64: z.string().optional(),
  completion: z.string(),
});
type Taken = z.infer<typeof taken>;
const pulled = z.object({ messages: z.array(taken) });

interface LocalAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, readonly string[]>>;
  readonly body: Buffer;
}

function say(line: string): void {
  process.stderr.write(`${line}\n`);
}

const waitSeconds = 10;
/** A completion has the body in base64, and AWS takes 4.5 MB. */
const largestBody = 3_000_000;
const longestPauseMs = 10_000;
/** These belong to a connection. */
const ofConnection = /^(connection|content-length|host|keep-alive|te|trailer|transfer-encoding|upgrade)$/i;

/** An answer of the service that a repetition does not change. */
class Refused extends Error {
  readonly status: number;

  constructor(status: number, text: string) {
    super(text);
    this.status = status;
  }
}

const unitMs: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const msOf = (within: string): number => Number(within.slice(0, -1)) * (unitMs[within.slice(-1)] ?? 0);

/** @returns the exit status, after Ctrl-C */
export async function listen(options: ListenOptions): Promise<number> {
  const { name, group, parallel, target, within } = options;
  const running = new Set<Promise<void>>();
  const ending = new AbortController();
  const end = (): void => {
    if (ending.signal.aborted) process.exit(1);
    ending.abort();
    say('Ending after what was taken; again to end at once.');
  };
  process.on('SIGINT', end).on('SIGTERM', end);
  const endpoint = { url: `pull:${name}`, name: `listen ${name}` };
  if (group !== undefined) await ask(options, 'POST', `topics/${group}/endpoints`, { endpoints: [endpoint] });
  say(`pull:${name} goes to ${target.href}`);
  while (!ending.signal.aborted) {
    if (running.size >= parallel) {
      await Promise.race(running);
      continue;
    }
    const free = parallel - running.size;
    const wait = `${running.size === 0 ? waitSeconds : 1}s`;
    const { messages } = pulled.parse(
      await ask(options, 'POST', `pull/${name}`, { count: free, wait, within }),
    );
    for (const one of messages) {
      const run = handle(options, one).finally(() => running.delete(run));
      running.add(run);
    }
  }
  await Promise.all(running);
  if (group !== undefined)
    await ask(options, 'DELETE', `topics/${group}/endpoints`, { endpoints: [{ url: endpoint.url }] });
  return 0;
}

async function handle(options: ListenOptions, one: Taken): Promise<void> {
  const begun = performance.now();
  const more = setInterval(
    () => {
      // A failure means that the attempt has ended, which its completion finds out.
      ask(options, 'POST', `extend/${one.completion}`, { within: options.within }).catch(() => undefined);
    },
    msOf(options.within) / 2,
  );
  try {
    const answer = await request(options, one);
    const { status } = answer;
    const ended = await complete(options, one, answer);
    const ms = Math.round(performance.now() - begun);
    const path = `${options.target.pathname}${options.target.search}`;
    process.stdout.write(
      `${new Date().toISOString()} ${one.method} ${path} ${status} ${ms} ms ${one.messageId} ${ended}`
        .trimEnd()
        .concat('\n'),
    );
  } finally {
    clearInterval(more);
  }
}

async function complete(
  options: ListenOptions,
  one: Taken,
  { status, headers, body }: LocalAnswer,
): Promise<string> {
  const path = `complete/${one.completion}`;
  try {
    await ask(options, 'POST', path, {
      status,
      headers,
      bodyBase64: body.subarray(0, largestBody).toString('base64'),
    });
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    if (error.status !== 413) return `(${error.message})`;
    await ask(options, 'POST', path, { status, headers, comment: 'The body of the answer was too large.' });
  }
  return '';
}

/** Makes the request of a message. It never rejects: without an answer, the answer is a 502 that says why. */
async function request({ target, skipVerify }: ListenOptions, one: Taken): Promise<LocalAnswer> {
  const body =
    one.bodyBase64 === undefined ? Buffer.from(one.body ?? '') : Buffer.from(one.bodyBase64, 'base64');
  const headers = Object.fromEntries(
    Object.entries(one.headers).filter(([name]) => !ofConnection.test(name)),
  );
  try {
    const incoming = await new Promise<http.IncomingMessage>((resolve, reject) => {
      const { request: make } = target.protocol === 'https:' ? https : http;
      make(target, { method: one.method, headers: latin1(headers), rejectUnauthorized: !skipVerify })
        .on('response', resolve)
        .on('error', reject)
        .end(body);
    });
    const answered = Object.entries(incoming.headersDistinct).flatMap(([name, values]) =>
      values === undefined || ofConnection.test(name) ? [] : [[name, values] as const],
    );
    return {
      status: incoming.statusCode ?? 502,
      headers: Object.fromEntries(answered),
      body: await buffer(incoming),
    };
  } catch (error) {
    const text = error instanceof Error ? error.message || error.name : String(error);
    return {
      status: 502,
      headers: { 'content-type': ['text/plain'] },
      body: Buffer.from(`svc-queue listen: ${text}`),
    };
  }
}

/** The service shows headers as text; a request has their bytes. */
const latin1 = (headers: Taken['headers']): Record<string, string[]> =>
  Object.fromEntries(
    Object.entries(headers).map(([name, values]) => [
      name,
      values.map((value) => Buffer.from(value).toString('latin1')),
    ]),
  );

/**
 * Sends a request to the service, again until there is an answer.
 *
 * @throws Refused for an answer that a repetition does not change
 */
async function ask(
  { url, token }: ListenOptions,
  method: string,
  path: string,
  body: unknown,
): Promise<unknown> {
  for (let pauseMs = 250, isTold = false; ; pauseMs = Math.min(2 * pauseMs, longestPauseMs)) {
    const answer = await fetch(`${url}/v2/${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(60_000),
    }).then(
      async (response) => ({ status: response.status, text: await response.text() }),
      (error: unknown) => ({ status: 0, text: String(error) }),
    );
    const { status, text } = answer;
    if (status >= 200 && status < 300) return JSON.parse(text);
    if (status !== 0 && status !== 429 && status < 500) throw new Refused(status, text);
    if (!isTold) say(`The service does not answer (${status === 0 ? text : status}); trying again.`);
    isTold = true;
    await sleep(pauseMs);
  }
}
