import { spawn } from 'node:child_process';
import { tmpdir } from 'node:os';
import { inject } from 'vitest';

export interface Ran {
  readonly code: number | null;
  readonly stdout: string;
  /** stdout and stderr. */
  readonly output: string;
}

export interface Running {
  readonly output: () => string;
  /** Resolves when it has printed this. */
  readonly said: (text: RegExp) => Promise<void>;
  /** Its exit status is null after a kill. */
  readonly ended: Promise<Ran>;
  /** Sends what Ctrl-C sends. */
  readonly interrupt: () => void;
  readonly kill: () => Promise<Ran>;
}

/** Starts `svc-queue` in a folder without a local stage. @param input of its standard input, none by default */
export function startSvcQueue(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  input = '',
): Running {
  const child = spawn(process.execPath, [inject('bundledStage'), ...args], {
    cwd: tmpdir(),
    env: { PATH: process.env['PATH'], ...env },
    stdio: 'pipe',
  });
  child.stdin.on('error', () => undefined).end(input);
  let stdout = '';
  let output = '';
  const waiting = new Set<() => void>();
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  for (const stream of [child.stdout, child.stderr.setEncoding('utf8')])
    stream.on('data', (text: string) => {
      output += text;
      for (const look of waiting) look();
    });
  const ended = new Promise<Ran>((resolve) => {
    child.once('close', (code) => {
      resolve({ code, stdout, output });
    });
  });
  return {
    output: () => output,
    said: (text) =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          if (text.test(output)) resolve();
        };
        waiting.add(look);
        look();
        void ended.then(() => {
          reject(new Error(`It ended: ${output}`));
        });
      }),
    ended,
    interrupt: () => child.kill('SIGINT'),
    kill: () => {
      child.kill('SIGKILL');
      return ended;
    },
  };
}

/** Runs `svc-queue` to its end. */
export const svcQueue = (...started: Parameters<typeof startSvcQueue>): Promise<Ran> =>
  startSvcQueue(...started).ended;
