/** Runs `svc-queue listen` as a process, in a folder without a local stage. */
import { spawn } from 'node:child_process';
import { tmpdir } from 'node:os';
import { inject } from 'vitest';

export interface Listener {
  readonly output: () => string;
  /** Resolves when it has printed a line. */
  readonly said: (line: RegExp) => Promise<void>;
  /** Its exit status; null after a kill. */
  readonly ended: Promise<number | null>;
  /** Sends what Ctrl-C sends. */
  readonly interrupt: () => void;
  readonly kill: () => Promise<unknown>;
}

export function startListener(args: readonly string[], place: Readonly<Record<string, string>>): Listener {
  const child = spawn(process.execPath, [inject('bundledStage'), 'listen', ...args], {
    cwd: tmpdir(),
    env: { PATH: process.env['PATH'], ...place },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  const waiting = new Set<() => void>();
  const add = (chunk: Buffer): void => {
    output += chunk.toString();
    for (const look of waiting) look();
  };
  child.stdout.on('data', add);
  child.stderr.on('data', add);
  const ended = new Promise<number | null>((resolve) => {
    child.once('close', resolve);
  });
  const said = (line: RegExp): Promise<void> =>
    new Promise((resolve, reject) => {
      const look = (): void => {
        if (!line.test(output)) return;
        waiting.delete(look);
        resolve();
      };
      waiting.add(look);
      look();
      void ended.then(() => {
        reject(new Error(`The listener ended: ${output}`));
      });
    });
  return {
    output: () => output,
    said,
    ended,
    interrupt: () => child.kill('SIGINT'),
    kill: () => {
      child.kill('SIGKILL');
      return ended;
    },
  };
}
