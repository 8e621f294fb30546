/** DynamoDB for the local stage: dynoxide as a child process, or the database that `DYNAMODB_ENDPOINT` names. */
import { spawn, type ChildProcess } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { createRequire } from 'node:module';
import { delimiter, dirname, join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { ListTablesCommand, type DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { close, listen, loopback } from '../http.ts';
import { StageError } from '../stage/stageError.ts';

export interface Dynamodb {
  readonly url: string;
  /** Of the child process; absent with `DYNAMODB_ENDPOINT`. */
  readonly pid?: number;
  readonly stop: () => Promise<void>;
}

export interface DynamodbOptions {
  /** The data file; without one nothing is kept. */
  readonly file: string | undefined;
  /** Is called when the database ends before `stop` was called. */
  readonly onExit: (error: Error) => void;
}

/** @throws StageError when this machine has no DynamoDB */
export async function startDynamodb(options: DynamodbOptions): Promise<Dynamodb> {
  const url = process.env['DYNAMODB_ENDPOINT'];
  if (url === undefined || url === '') return startDynoxide(options);
  if (!URL.canParse(url)) throw new StageError(`DYNAMODB_ENDPOINT is not a URL: ${url}`);
  return { url, stop: () => Promise.resolve() };
}

/**
 * A shell script that becomes dynoxide, and leaves a watcher behind. The watcher ends dynoxide as soon as the pipe from the
 * stage closes. The kernel closes the pipe however the stage dies, so that no orphan keeps the data file open.
 */
const underWatch = `
exec 3<&0 </dev/null
{ read -r _ <&3; kill "$$" 2>/dev/null; } &
exec "$@" 3<&-
`;

async function startDynoxide({ file, onExit }: DynamodbOptions): Promise<Dynamodb> {
  const binary = findDynoxide();
  const port = await freePort();
  const command = [binary, 'serve', '--host', loopback, '--port', String(port)];
  if (file !== undefined) command.push('--db-path', file);
  // A process group of its own, so that Ctrl-C in the terminal does not end the database before the stage.
  const child = spawn('/bin/sh', ['-c', underWatch, 'sh', ...command], {
    detached: true,
    stdio: ['pipe', 'ignore', 'pipe'],
  });
  let stopping = false;
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (said = `${said}${text}`.slice(-1000)));
  const exited = new Promise<void>((resolve) => {
    child.once('error', onExit);
    child.once('exit', (code, signal) => {
      resolve();
      child.stdin.destroy();
      if (stopping) return;
      onExit(new StageError(`The database ended (${signal ?? code ?? 'unknown'}): ${said.trim()}`));
    });
  });
  // Nothing is written to it. An error on it means that the child has ended, which `exit` handles.
  child.stdin.on('error', () => undefined);
  return {
    url: `http://${loopback}:${port}`,
    ...pidOf(child),
    stop: async () => {
      stopping = true;
      child.stdin.destroy();
      await exited;
    },
  };
}

function pidOf({ pid }: ChildProcess): { pid?: number } {
  return pid === undefined ? {} : { pid };
}

function findDynoxide(): string {
  const name = process.platform === 'win32' ? 'dynoxide.exe' : 'dynoxide';
  const packageName = `@dynoxide/${process.platform}-${process.arch}`;
  const candidates = [folderOfPackage(packageName), ...(process.env['PATH'] ?? '').split(delimiter)]
    .filter((folder) => folder !== undefined)
    .filter((folder) => folder !== '')
    .map((folder) => join(folder, name));
  const found = candidates.find(isExecutable);
  if (found !== undefined) return found;
  throw new StageError(
    `There is no DynamoDB for this machine: install the npm package ${packageName}, put dynoxide on the PATH, or set DYNAMODB_ENDPOINT to the URL of any DynamoDB, DynamoDB Local included.`,
  );
}

function folderOfPackage(name: string): string | undefined {
  try {
    return dirname(createRequire(import.meta.url).resolve(`${name}/package.json`));
  } catch {
    // Not installed: the PATH is next.
    return undefined;
  }
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    // Missing, or not executable: the next candidate is tried.
    return false;
  }
}

async function freePort(): Promise<number> {
  const { server, port } = await listen(() => undefined);
  await close(server);
  return port;
}

/** The time that a database has to start, the disk of a busy machine included. */
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
