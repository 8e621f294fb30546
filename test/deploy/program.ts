/** Runs the programs that this project depends on, each as a process that a cancelled run takes with it. */
import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';

const root = resolve(import.meta.dirname, '../..');
const running = new Set<ChildProcess>();
let cancelled = false;

export interface Program {
  readonly package: string;
  /** The path of the script in its package. */
  readonly path: string;
  readonly timeoutMs: number;
  /** The file that gets all output; without it, the terminal does. */
  readonly logFile?: string;
  /** The folder in which it runs; without it, the root of this project. */
  readonly cwd?: string;
}

/** @throws Error when it ends with anything but code 0; its last lines are in the message */
export async function run(
  program: Program,
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): Promise<void> {
  if (cancelled) throw new Error('The run was cancelled.');
  const { logFile } = program;
  const packageFile = createRequire(import.meta.url).resolve(`${program.package}/package.json`);
  const output = logFile === undefined ? 'inherit' : openSync(logFile, 'a');
  const child = spawn(process.execPath, [join(dirname(packageFile), program.path), ...args], {
    cwd: program.cwd ?? root,
    env: { ...process.env, ...env },
    // A group of its own, which ends as a whole: the CLI starts the app, and the test runner its workers.
    detached: true,
    stdio: ['ignore', output, output],
  });
  endWithRun(child);
  const tooLong = setTimeout(() => {
    killGroup(child);
  }, program.timeoutMs);
  try {
    const outcome = await new Promise<string | undefined>((resolve, reject) => {
      child.once('error', reject);
      child.once('exit', (code, signal) => {
        resolve(code === 0 ? undefined : (signal ?? `code ${String(code)}`));
      });
    });
    if (outcome === undefined) return;
    const tail = logFile === undefined ? '' : `\n${lastLines(logFile, 60)}`;
    throw new Error(`${program.package} ${args[0] ?? ''} ended with ${outcome}.${tail}`);
  } finally {
    clearTimeout(tooLong);
    if (typeof output === 'number') closeSync(output);
  }
}

/** Has a process that was started detached end when the run is cancelled. */
export function endWithRun(child: ChildProcess): void {
  running.add(child);
  child.once('exit', () => running.delete(child));
}

/** Ends what runs, and lets nothing more start. */
function cancelPrograms(): void {
  cancelled = true;
  for (const child of running) killGroup(child);
}

/**
 * Runs a program of the deployed checks: its failure is printed and is the exit status. An interrupted run takes its processes
 * with it: what it waits for fails, and it cleans up.
 */
export async function runProgram(main: () => Promise<void>): Promise<void> {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      process.exitCode = 1;
      cancelPrograms();
    });
  }
  try {
    await main();
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  }
}

/** Ends a process that was started detached, and all that it started. */
export function killGroup(child: ChildProcess): void {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, 'SIGKILL');
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
}

export function lastLines(file: string, lines: number): string {
  return readFileSync(file, 'utf8').split('\n').slice(-lines).join('\n');
}
