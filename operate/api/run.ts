/** Runs a command for users: one request, all pages of a list, a log as it grows, or a bulk operation to its end. */
import { readFileSync } from 'node:fs';
import { buffer } from 'node:stream/consumers';
import { setTimeout as wait } from 'node:timers/promises';
import * as z from 'zod/mini';
import { bulk } from '../../lambdas/wire/bulkAnswers.ts';
import { ask, askOperation, type Answer, type Connection } from './connection.ts';
import type { ApiOperation } from './operations.ts';
import type { ApiCommand } from './options.ts';
import { requestOf, type Request, type Values } from './request.ts';
import { rowsIn, shown } from './show.ts';

/** Where a command prints. */
interface Output {
  readonly print: (text: string) => void;
  /** For people only, beside the output. */
  readonly say: (text: string) => void;
  /** The terminal's, if there is one. */
  readonly width: number | undefined;
  readonly signal: AbortSignal;
}

async function bodyOf(data: string | undefined): Promise<Request['body']> {
  if (data === undefined) return undefined;
  if (data === '-') return (await buffer(process.stdin)).toString();
  return data.startsWith('@') ? readFileSync(data.slice(1), 'utf8') : data;
}

/** The names of filters with which a bulk operation does not run in the background. */
const foreground = /Ids$|^(count|cursor|background)$/;

/** @returns the exit status */
export async function runApi(command: ApiCommand, connection: Connection, output: Output): Promise<number> {
  const { operation, values, flags } = command;
  if (flags.follow) return follow(command, connection, output);
  const body = await bodyOf(flags.data);
  const isLong = operation.isBulk && body === undefined && !values.some(([name]) => foreground.test(name));
  const all: Values = isLong ? [...values, ['background', 'true']] : values;
  let hasPrinted = false;
  for await (const { json, cursor } of pagesOf(connection, operation, all, body)) {
    if (isLong) return watch(json, command, connection, output);
    print(json, command, output, hasPrinted);
    hasPrinted = true;
    if (!flags.all && cursor !== undefined) output.say(`There is more: --all, or cursor=${cursor}`);
    if (!flags.all || output.signal.aborted) break;
  }
  return 0;
}

async function* pagesOf(
  connection: Connection,
  operation: ApiOperation,
  values: Values,
  body?: Request['body'],
): AsyncGenerator<Answer> {
  for (let of = values; ;) {
    const page = await ask(connection, requestOf(operation, of, body));
    yield page;
    if (page.cursor === undefined) return;
    of = [...values.filter(([name]) => name !== 'cursor'), ['cursor', page.cursor]];
  }
}

/** @param hasHeading whether the table's heading was printed before */
function print(
  json: unknown,
  { action, flags: { json: isJson, all, follow: isFollowing } }: ApiCommand,
  { print: write, width }: Output,
  hasHeading = false,
): void {
  if (json === '') return;
  const isLines = isJson && (all || isFollowing);
  if (isLines && action.columns !== undefined)
    for (const row of rowsIn(json, action.rows ?? '')) write(JSON.stringify(row));
  else if (isLines) write(JSON.stringify(json));
  else if (isJson || action.operation === '')
    write(typeof json === 'string' ? json : JSON.stringify(json, undefined, 2));
  else
    write(
      shown(json, action, width)
        .split('\n')
        .slice(hasHeading ? 1 : 0)
        .join('\n'),
    );
}

/** Between two requests for new entries of the log, or for the progress of an operation, in milliseconds. */
const pauseMs = 1_000;

/** An entry may become visible later than one with a later time. */
const overlapMs = 10_000;

async function follow(command: ApiCommand, connection: Connection, output: Output): Promise<number> {
  const { operation, values } = command;
  const given = values.find(([name]) => name === 'fromDate')?.[1];
  const own = values.filter(([name]) => !['fromDate', 'order', 'cursor'].includes(name));
  let from = given ?? Date.now();
  let hasPrinted = false;
  let seen = new Set<string>();
  while (!output.signal.aborted) {
    const began = Date.now();
    const current = new Set<string>();
    const recent: Values = [...own, ['fromDate', from], ['order', 'earliestFirst']];
    for await (const { json } of pagesOf(connection, operation, recent)) {
      const known = seen;
      const fresh = rowsIn(json, 'logs').filter((row) => {
        const text = JSON.stringify(row);
        current.add(text);
        return !known.has(text);
      });
      if (fresh.length > 0) print({ logs: fresh }, command, output, hasPrinted);
      hasPrinted ||= fresh.length > 0;
    }
    seen = current;
    from = began - overlapMs > Number(from) || Number.isNaN(Number(from)) ? began - overlapMs : from;
    await wait(pauseMs, undefined, { signal: output.signal }).catch(() => undefined);
  }
  return 0;
}

const started = z.object({ bulkId: z.string() });

/** Shows a bulk operation's progress. After Ctrl-C the operation goes on. */
async function watch(
  json: unknown,
  command: ApiCommand,
  connection: Connection,
  output: Output,
): Promise<number> {
  const { bulkId } = started.parse(json);
  for (;;) {
    const record = await askOperation(connection, 'getBulkOperation', [['bulkId', bulkId]]);
    const now = bulk.parse(record);
    if (now.state !== 'running') {
      if (command.flags.json) output.print(JSON.stringify(record, undefined, 2));
      else
        output.print(
          `${command.operation.summary}: ${now.state}, ${now.done} done, ${now.failed} failed. ${now.error?.error ?? ''}`.trim(),
        );
      return now.state === 'done' && now.failed === 0 ? 0 : 1;
    }
    output.say(`${now.done} done, ${now.failed} failed …`);
    await wait(pauseMs, undefined, { signal: output.signal }).catch(() => undefined);
    if (!output.signal.aborted) continue;
    output.say(
      `It goes on. svc-queue api getBulkOperation ${bulkId} shows it, svc-queue api stopBulkOperation ${bulkId} --yes stops it.`,
    );
    return 1;
  }
}
