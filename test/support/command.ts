import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { text } from 'node:stream/consumers';
import { inject } from 'vitest';

export interface Ran {
  readonly code: number | null;
  readonly stdout: string;
  /** stdout and stderr. */
  readonly output: string;
}

/** Runs `svc-queue` in a folder without a local stage. @param input of its standard input, none by default */
export async function svcQueue(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  input = '',
): Promise<Ran> {
  const child = spawn(process.execPath, [inject('bundledStage'), ...args], {
    cwd: tmpdir(),
    env: { PATH: process.env['PATH'], ...env },
    stdio: 'pipe',
  });
  child.stdin.on('error', () => undefined).end(input);
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  return { code: child.exitCode, stdout, output: `${stdout}${stderr}` };
}
