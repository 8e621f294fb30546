/** DynamoDB for the local stage: dynoxide as a child process, or the database that `DYNAMODB_ENDPOINT` names. */
import { spawn, type ChildProcess } from 'node:child_process';
import { dirname } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { ListTablesCommand, type DynamoDBClient } from '@aws-sdk/client-dynamodb';
import * as z from 'zod/mini';
import { diskSentence } from '../disk/disk.ts';
import { freePort, loopback } from '../http.ts';
import { AwsError } from '../aws/awsError.ts';
import type { HandOver } from '../aws/handOver.ts';
import { StageError } from '../stage/stageError.ts';
import { findDynoxide } from './dynoxide.ts';
import { groupCommit } from './groupCommit.ts';
import { callOf, connect, type Send, type SendForClient } from './connection.ts';
import { Holdable, type Hold } from './hold.ts';
import { knownAccounts } from './knownAccounts.ts';
import { knownMessages } from './knownMessages.ts';
import { limitRows } from './rowLimit.ts';
import { underWatch } from './underWatch.ts';

export interface Dynamodb {
  readonly url: string;
  /** Makes the calls of this process; absent with `DYNAMODB_ENDPOINT`. */
  readonly call?: SendForClient;
  /** Holds its calls back; absent with `DYNAMODB_ENDPOINT`. */
  readonly hold?: Hold;
  /** The id of the child process; absent with `DYNAMODB_ENDPOINT`. */
  readonly pid?: number;
  readonly stop: () => Promise<void>;
}

export interface DynamodbOptions {
  /** The data file; undefined keeps nothing. */
  readonly file: string | undefined;
  /** Called with the reason when the start takes long. */
  readonly announce: (sentence: string) => void;
  /** Called with the answer to a call that the database failed to make. */
  readonly onFailure?: (text: string) => void;
  /** Called when the database ends before `stop` was called. */
  readonly onExit: (error: Error) => void;
}

/** @throws StageError when this machine has no DynamoDB */
export async function startDynamodb(options: DynamodbOptions): Promise<Dynamodb> {
  const url = process.env['DYNAMODB_ENDPOINT'];
  if (url === undefined || url === '') return startDynoxide(options);
  if (!URL.canParse(url)) throw new StageError(`DYNAMODB_ENDPOINT is not a URL: ${url}`);
  return { url, stop: () => Promise.resolve() };
}

async function startDynoxide({ file, announce, onFailure, onExit }: DynamodbOptions): Promise<Dynamodb> {
  const program = await findDynoxide(announce);
  const port = await freePort();
  const command = [program, 'serve', '--host', loopback, '--port', String(port)];
  if (file !== undefined) command.push('--db-path', file);
  const watched = underWatch(command);
  // The child has a process group of its own, so that Ctrl-C in the terminal does not end the database before the stage.
  const url = `http://${loopback}:${port}`;
  const connection = connect(url);
  const child = spawn(watched.file, watched.args, {
    detached: true,
    windowsHide: true,
    stdio: ['pipe', 'ignore', 'pipe'],
  });
  const held = new Holdable(telling(limitRows(connection.send), onFailure));
  let stopping = false;
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (said = `${said}${text}`.slice(-1000)));
  const exited = new Promise<void>((resolve) => {
    child.once('error', onExit);
    child.once('exit', (code, signal) => {
      resolve();
      child.stdin.destroy();
      if (stopping) return;
      const folder = file === undefined ? undefined : dirname(file);
      onExit(
        new StageError(
          (folder && diskSentence(said, folder)) ??
            `The database ended (${signal ?? code ?? 'unknown'}): ${said.trim()}`,
        ),
      );
    });
  });
  // Nothing is written to the pipe. An error on it means that the child has ended, which `exit` handles.
  child.stdin.on('error', () => undefined);
  return {
    url,
    call: knownAccounts(knownMessages(groupCommit(held.send), () => Date.now())),
    hold: held.hold,
    ...pidOf(child),
    stop: async () => {
      stopping = true;
      child.stdin.destroy();
      await exited;
      await connection.close();
    },
  };
}

/** Tells of the calls that the database fails to make: those of a full disk, or a damaged file. */
const telling =
  (send: Send, onFailure: DynamodbOptions['onFailure'] = () => undefined): Send =>
  async (call) => {
    const answer = await send(call);
    if (answer.status >= 500) onFailure(Buffer.from(answer.body).toString());
    return answer;
  };

/** Takes the calls of this process's clients. */
export const handOverTo =
  (send: SendForClient): HandOver =>
  async (operation, input) => {
    const answer = await send(callOf(operation, input));
    const { status, output = outputIn(answer.body) } = answer;
    if (status === 200) return output;
    const { __type = '', message = '', Message = message, ...members } = refusal.parse(output);
    throw new AwsError(__type.slice(__type.lastIndexOf('#') + 1), Message, status, members);
  };

const anObject = z.custom<object>((value) => typeof value === 'object' && value !== null);
const refusal = z.looseObject({
  __type: z.optional(z.string()),
  message: z.optional(z.string()),
  Message: z.optional(z.string()),
});

/** Parses an answer into the client's form. A text under the name `B` is bytes; answers with bytes take longer to parse. */
function outputIn(body: Uint8Array): object {
  const text = Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString();
  const hasBytes = /"B":\s*"/.test(text);
  return anObject.parse(JSON.parse(text, hasBytes ? bytesOfBase64 : undefined));
}

const bytesOfBase64 = (name: string, value: unknown): unknown =>
  name === 'B' && typeof value === 'string' ? new Uint8Array(Buffer.from(value, 'base64')) : value;

function pidOf({ pid }: ChildProcess): { pid?: number } {
  return pid === undefined ? {} : { pid };
}

/** The time that a database has to start, with the disk of a busy machine. */
const startLimitMs = 10_000;
const askAgainAfterMs = 10;

/**
 * Waits until the database answers, and lists its tables.
 *
 * @throws StageError when it has not answered within 10 s
 * @throws the signal's reason when it aborts
 */
export async function waitForTables(
  client: DynamoDBClient,
  url: string,
  signal: AbortSignal,
): Promise<string[]> {
  const deadline = performance.now() + startLimitMs;
  for (;;) {
    try {
      const { TableNames = [] } = await client.send(new ListTablesCommand({}), { abortSignal: signal });
      return TableNames;
    } catch (error) {
      signal.throwIfAborted();
      if (performance.now() > deadline) {
        throw new StageError(`The DynamoDB at ${url} does not answer: ${String(error)}`, { cause: error });
      }
      await setTimeout(askAgainAfterMs, undefined, { signal });
    }
  }
}
