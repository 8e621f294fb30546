/**
 * Takes messages from the service and makes them as requests to a local address. A message is taken only when its request can be
 * made at once, and gets more time while the request takes longer. On Ctrl-C nothing more is taken, and what was taken ends.
 */
import http from 'node:http';
import https from 'node:https';
import { setTimeout as sleep } from 'node:timers/promises';
import { buffer } from 'node:stream/consumers';
import { headerBytes, headerText } from '../lambdas/shared/headers.ts';
import { parseDurationMs } from '../lambdas/value/duration.ts';
import { pulled, type Pulled } from '../lambdas/wire/pullAnswers.ts';
import { ask, type Connection } from './api/connection.ts';
import { ApiRefusal } from './callApi.ts';
import { OperateError } from './operateError.ts';
import type { ListenOptions } from './listenOptions.ts';

type Taken = Pulled['messages'][number];

function say(line: string): void {
  process.stderr.write(`${line}\n`);
}

const waitSeconds = 10;
/** A completion has the body in base64, and AWS takes 4.5 MB. */
const largestBody = 3_000_000;
const longestPauseMs = 10_000;
/** These belong to a connection. */
const ofConnection = /^(connection|content-length|host|keep-alive|te|trailer|transfer-encoding|upgrade)$/i;

/** @returns the exit status, after Ctrl-C */
export async function listen(connection: Connection, options: ListenOptions): Promise<number> {
  const { name, group, parallel, target, within } = options;
  const running = new Set<Promise<void>>();
  const ending = new AbortController();
  const end = (): void => {
    if (ending.signal.aborted) process.exit(1);
    ending.abort();
    say('Ending after what was taken; again to end at once.');
  };
  process.on('SIGINT', end).on('SIGTERM', end);
  const send: Send = async (path, body, method = 'POST') => {
    const headers = { 'content-type': 'application/json' };
    const request = { method, path: `/v2/${path}`, headers, body: JSON.stringify(body) };
    return (await ask(connection, request)).json;
  };
  const endpoints = { endpoints: [{ url: `pull:${name}`, name: `listen ${name}` }] };
  const change = (method: string) => repeat(() => send(`topics/${group}/endpoints`, endpoints, method));
  if (group !== undefined) await change('POST');
  say(`pull:${name} goes to ${target.href}`);
  while (!ending.signal.aborted) {
    if (running.size >= parallel) {
      await Promise.race(running);
      continue;
    }
    const free = parallel - running.size;
    const wait = `${running.size === 0 ? waitSeconds : 1}s`;
    const pull = () => send(`pull/${name}`, { count: free, wait, within });
    const answer = await repeat(pull, () => ending.signal.aborted);
    if (answer === undefined) break;
    for (const one of pulled.parse(answer).messages) {
      const run = handle(send, options, one).finally(() => running.delete(run));
      running.add(run);
    }
  }
  await Promise.all(running);
  if (group !== undefined) await change('DELETE');
  return 0;
}

/** A request to the service. By default its method is POST. */
type Send = (path: string, body: unknown, method?: string) => Promise<unknown>;

async function handle(send: Send, options: ListenOptions, one: Taken): Promise<void> {
  const begun = performance.now();
  const more = setInterval(
    () => {
      // Without an answer, the next one follows. A refusal means that the attempt has ended, which its completion finds out.
      send(`extend/${one.completion}`, { within: options.within }).catch(() => undefined);
    },
    parseDurationMs('--within', options.within) / 2,
  );
  try {
    const answer = await request(options, one);
    const { status } = answer;
    const ended = await complete(send, one, answer);
    const ms = Math.round(performance.now() - begun);
    const path = `${options.target.pathname}${options.target.search}`;
    process.stdout.write(
      `${new Date().toISOString()} ${one.method} ${path} ${status} ${ms} ms ${one.messageId}${ended}\n`,
    );
  } finally {
    clearInterval(more);
  }
}

/** @returns what the listener adds to its line: nothing, or the service's refusal */
async function complete(
  send: Send,
  one: Taken,
  { status, headers, body }: Awaited<ReturnType<typeof request>>,
): Promise<string> {
  const path = `complete/${one.completion}`;
  const bodyBase64 = body.subarray(0, largestBody).toString('base64');
  let refusal = await refusalOf(() => send(path, { status, headers, bodyBase64 }));
  if (refusal?.status === 413) {
    const comment = 'The body of the answer was too large.';
    refusal = await refusalOf(() => send(path, { status, headers, comment }));
  }
  if (refusal?.status === 400) {
    const comment = 'The headers of the answer were too large, or wrong.';
    refusal = await refusalOf(() => send(path, { status, bodyBase64, comment }));
  }
  return refusal === undefined ? '' : ` (${refusal.message})`;
}

async function refusalOf(send: () => Promise<unknown>): Promise<ApiRefusal | undefined> {
  try {
    await repeat(send);
    return undefined;
  } catch (error) {
    if (!(error instanceof ApiRefusal)) throw error;
    return error;
  }
}

/** Makes the request of a message. It never rejects: without an answer, the answer is a 502 that says why. */
async function request({ target, skipVerify }: ListenOptions, one: Taken) {
  const body =
    one.bodyBase64 === undefined ? Buffer.from(one.body ?? '') : Buffer.from(one.bodyBase64, 'base64');
  const given = Object.entries(one.headers).filter(([name]) => !ofConnection.test(name));
  const headers = Object.fromEntries(given.map(([name, values]) => [name, values.map(headerBytes)]));
  try {
    const incoming = await new Promise<http.IncomingMessage>((resolve, reject) => {
      const { request: make } = target.protocol === 'https:' ? https : http;
      make(target, { method: one.method, headers, rejectUnauthorized: skipVerify !== true })
        .on('response', resolve)
        .on('error', reject)
        .end(body);
    });
    const answered = Object.entries(incoming.headersDistinct).flatMap(([name, values]) =>
      values === undefined || ofConnection.test(name) ? [] : [[name, values.map(headerText)] as const],
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

/**
 * Sends a request to the service, again until there is an answer.
 *
 * @param isEnding whether the next failure is the last one
 * @returns undefined if there was no answer at the end
 * @throws ApiRefusal for an answer that a repetition does not change
 */
async function repeat(send: () => Promise<unknown>, isEnding = () => false): Promise<unknown> {
  for (let pauseMs = 250, isTold = false; ; pauseMs = Math.min(2 * pauseMs, longestPauseMs)) {
    try {
      return await send();
    } catch (error) {
      const isFinal = error instanceof ApiRefusal && error.status !== 429 && error.status < 500;
      if (isFinal || !(error instanceof OperateError)) throw error;
      if (isEnding()) return undefined;
      if (!isTold) say(`${error.message}; trying again.`);
    }
    isTold = true;
    await sleep(pauseMs);
  }
}
