/** Runs the project’s dependencies as programs. Their processes end with a cancelled run. */
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
  /** The file for all output; by default the terminal. */
  readonly logFile?: string;
  /** The working folder; by default this project’s root. */
  readonly cwd?: string;
}

/** @throws Error with its last lines if it exits with a code other than 0 */
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
    // The CLI starts the app, and the test runner its workers. A process group ends them together.
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

/** Ends a detached process when the run is cancelled. */
export function endWithRun(child: ChildProcess): void {
  running.add(child);
  child.once('exit', () => running.delete(child));
}

/** Ends all programs. No others start after this. */
function cancelPrograms(): void {
  cancelled = true;
  for (const child of running) killGroup(child);
}

/**
 * Runs a program of the deployed checks. A failure is printed and becomes the exit status. After an interrupt its processes
 * end, and the program cleans up.
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

/** Ends a detached process and all its children. */
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
