import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chown, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { underWatch } from '../../test/support/underWatch.ts';
import { BenchError } from '../benchError.ts';
import type { Closable } from './together.ts';

/** Some servers refuse to run as root, so they run in this account. Its id is the same on every Linux. */
const nobody = { uid: 65_534, gid: 65_534 };
type User = { readonly uid: number; readonly gid: number } | undefined;
export const notRoot = (): User => (process.getuid?.() === 0 ? nobody : undefined);

interface ServerOptions {
  readonly title: string;
  readonly command: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  readonly user?: User;
  /** The output that shows that the server is ready. If undefined, it counts as ready at once. */
  readonly ready?: RegExp;
  readonly signal?: NodeJS.Signals;
}

export interface Server extends Closable {
  readonly pid: number;
  readonly ended: Promise<never>;
}

/** A server that has not ended this long after its signal is killed (milliseconds). */
const patienceMs = 15_000;
/** The last characters of its output, which say why it failed. */
const shownOutput = 1_500;

/**
 * Starts a server, and waits until it is ready. It ends with this process, even if that is killed.
 *
 * @throws BenchError
 */
export async function startServer(options: ServerOptions): Promise<Server> {
  const { title, command, env, cwd, user, ready, signal = 'SIGTERM' } = options;
  const { file, args } = underWatch(command);
  const child = spawn(file, args, { stdio: 'pipe', env: { ...process.env, ...env }, cwd, ...user });
  // Nothing is written to the pipe. When it closes, the watchdog knows that this process has ended.
  child.stdin.on('error', () => undefined);
  let output = '';
  const exited = once(child, 'exit').then(() => {
    child.stdin.destroy();
  });
  const ended = exited.then((): never => {
    throw new BenchError(`${title} ended with ${child.exitCode ?? child.signalCode}:\n${output.trim()}`);
  });
  ended.catch(() => undefined);
  const isReady = new Promise<void>((resolve) => {
    const read = (text: string): void => {
      output = (output + text).slice(-shownOutput);
      if (ready?.test(output) === true) resolve();
    };
    child.stdout.setEncoding('utf8').on('data', read);
    child.stderr.setEncoding('utf8').on('data', read);
    if (ready === undefined) resolve();
  });
  await Promise.race([isReady, ended]);
  const { pid } = child;
  if (pid === undefined) throw new BenchError(`${title} did not start.`);
  return {
    pid,
    ended,
    close: async () => {
      const impatience = setTimeout(() => child.kill('SIGKILL'), patienceMs);
      child.kill(signal);
      await exited;
      clearTimeout(impatience);
    },
  };
}

export async function temporaryFolder(
  prefix: string,
  user?: User,
): Promise<Closable & { readonly path: string }> {
  const path = await mkdtemp(join(tmpdir(), `svc-${prefix}-`));
  if (user !== undefined) await chown(path, user.uid, user.gid);
  return {
    path,
    // A process of the server may still write after the server has ended.
    close: () => rm(path, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 }),
  };
}
