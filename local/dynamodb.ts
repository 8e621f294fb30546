/** DynamoDB for the local stage: dynoxide as a child process, or whatever `DYNAMODB_ENDPOINT` names. */
import { spawn, type ChildProcess } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { createRequire } from 'node:module';
import { delimiter, dirname, join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { ListTablesCommand, type DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { close, listen, loopback } from './http.ts';
import { StageError } from './stageError.ts';

export interface Dynamodb {
  readonly url: string;
  /** Of the child process, where there is one. */
  readonly pid?: number;
  readonly stop: () => Promise<void>;
}

export interface DynamodbOptions {
  /** The data file; nothing is kept when absent. */
  readonly file: string | undefined;
  /** Called when the database ends although nobody stopped it. */
  readonly onExit: (error: Error) => void;
}

/** @throws StageError when there is no DynamoDB to be had */
export async function startDynamodb(options: DynamodbOptions): Promise<Dynamodb> {
  const url = process.env['DYNAMODB_ENDPOINT'];
  if (url === undefined || url === '') return startDynoxide(options);
  if (!URL.canParse(url)) throw new StageError(`DYNAMODB_ENDPOINT is not a URL: ${url}`);
  return { url, stop: () => Promise.resolve() };
}

/**
 * Becomes dynoxide, and leaves a watcher behind that ends it as soon as the pipe from the stage closes: the kernel
 * closes it whatever way the stage dies, so that no orphan keeps the data file.
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
  // Its own process group, so that Ctrl-C in the terminal does not end it before the stage has finished with it.
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
  // A write to it never happens; an error on it only says that the child has gone, which `exit` tells.
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
    // Not there, or not to be run: the next candidate's turn.
    return false;
  }
}

async function freePort(): Promise<number> {
  const { server, port } = await listen(() => undefined);
  await close(server);
  return port;
}

/**
 * Waits until the database answers, and lists its tables.
 *
 * @throws StageError when it has not answered within 10 s, or `signal` aborts
 */
export async function waitForTables(
  client: DynamoDBClient,
  url: string,
  signal: AbortSignal,
): Promise<string[]> {
  const deadline = Date.now() + 10_000;
  for (;;) {
    try {
      const { TableNames = [] } = await client.send(new ListTablesCommand({}), { abortSignal: signal });
      return TableNames;
    } catch (error) {
      signal.throwIfAborted();
      if (Date.now() > deadline) {
        throw new StageError(`The DynamoDB at ${url} does not answer: ${String(error)}`, { cause: error });
      }
      await setTimeout(10, undefined, { signal });
    }
  }
}
