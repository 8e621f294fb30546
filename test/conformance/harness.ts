/**
 * Runs the operations of one version of a client in parallel, and prints a line of JSON for each.
 *
 * CONFORMANCE_URL and CONFORMANCE_TOKEN name the service and the account. CONFORMANCE_DECLARATIONS is the folder of the
 * installed client. CONFORMANCE_RECEIVER is where the service reaches the port CONFORMANCE_RECEIVER_PORT of this machine,
 * unless both are on one machine.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { limitForHangsMs } from '../support/limits.ts';
import { startReceiver } from '../support/receiver.ts';
import type { Result } from './result.ts';

export const url = process.env['CONFORMANCE_URL'] ?? '';
export const token = process.env['CONFORMANCE_TOKEN'] ?? '';
const declarations = process.env['CONFORMANCE_DECLARATIONS'];

export const receiver = await startReceiver(
  Number(process.env['CONFORMANCE_RECEIVER_PORT'] ?? 0),
  process.env['CONFORMANCE_RECEIVER'],
);

/** Answers a request as web frameworks do. */
export type Handler = (request: Request) => Promise<Response>;

/** Passes requests at a path and below it to a handler. @returns its URL */
export function receiveFor(handler: Handler): string {
  const inbox = receiver.inbox(({ method, target, headers, body }, response) => {
    const request = new Request(`${receiver.origin}${target}`, {
      method,
      headers,
      body: new Uint8Array(body),
    });
    void handler(request).then(
      async (answer) => {
        response.writeHead(answer.status, Object.fromEntries(answer.headers)).end(await answer.text());
      },
      (error: unknown) => {
        response.writeHead(500).end(String(error));
      },
    );
  });
  return inbox.url;
}

/** Why the service refuses an operation. */
export class Refused {
  readonly reason: string;

  constructor(reason: string) {
    this.reason = reason;
  }
}

/** Why a version does not offer an operation although it declares its names. */
export class NotOffered {
  readonly reason: string;

  constructor(reason: string) {
    this.reason = reason;
  }
}

/**
 * Expects that the service refuses a call.
 *
 * @param text part of the client's error message
 */
export async function refused(call: () => Promise<unknown>, text: RegExp, reason: string): Promise<Refused> {
  const error = await call().then(
    () => new Error('It was not refused.'),
    (thrown: unknown) => thrown,
  );
  if (!text.test(String(error))) throw error;
  return new Refused(reason);
}

/**
 * Operations by name. Each word of a name is declared by the client if it offers the operation; the text after a semicolon is
 * an explanation.
 */
export type Operations = Readonly<Record<string, () => Promise<unknown>>>;

const wordsOf = (text: string): readonly string[] => text.match(/\w+/g) ?? [];
const namesOf = (operation: string): readonly string[] => wordsOf(operation.split('; ')[0] ?? '');

/** The words of the client's declarations, without comments; undefined if it has none. */
function declaredWords(): ReadonlySet<string> | undefined {
  if (declarations === undefined) return undefined;
  const files = readdirSync(declarations, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.d.ts') && !name.includes('node_modules'))
    .map((name) => readFileSync(join(declarations, name), 'utf8'));
  return new Set(wordsOf(files.join('\n').replaceAll(/\/\*[^]*?\*\/|\/\/.*/g, '')));
}

/** Fails if an operation hangs. The timer does not keep the process running. */
async function overdue(): Promise<never> {
  await setTimeout(limitForHangsMs, undefined, { ref: false });
  throw new Error(`It did not end within ${limitForHangsMs} ms.`);
}

async function resultOf(
  operation: string,
  run: () => Promise<unknown>,
  declared: ReadonlySet<string> | undefined,
): Promise<Result> {
  const missing = namesOf(operation).find((word) => declared?.has(word) === false);
  if (missing !== undefined) return { operation, outcome: 'not offered', reason: missing };
  try {
    const value = await Promise.race([run(), overdue()]);
    if (value instanceof Refused) return { operation, outcome: 'refused', reason: value.reason };
    if (value instanceof NotOffered) return { operation, outcome: 'not offered', reason: value.reason };
    return { operation, outcome: 'passed' };
  } catch (error) {
    const reason = error instanceof Error ? (error.stack ?? error.message) : String(error);
    return { operation, outcome: 'failed', reason };
  }
}

/** Runs all operations, and ends the process. */
export async function runOperations(operations: Operations): Promise<void> {
  const declared = declaredWords();
  await Promise.all(
    Object.entries(operations).map(async ([operation, run]) => {
      process.stdout.write(`${JSON.stringify(await resultOf(operation, run, declared))}\n`);
    }),
  );
  await receiver.close();
}
