/** MiniStack, an AWS emulator that others wrote: installed by a pinned version, run as one process of this machine. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { findPython, installPackage } from '../support/python.ts';
import { killGroup, lastLines } from './program.ts';

/** The account that the emulator plays; any access key stands for its root user. */
export const account = '000000000000';
export const credentials = {
  AWS_ACCESS_KEY_ID: 'test',
  AWS_SECRET_ACCESS_KEY: 'test',
} as const;

/**
 * @returns the Python interpreter that runs it
 * @throws Error in one sentence when there is no Python that can run the emulator
 */
export async function installEmulator(): Promise<string> {
  const python = findPython();
  if (python === undefined) {
    throw new Error(
      'test:deploy runs an AWS emulator that needs Python 3.10 or newer with its venv module, and there is none on the PATH.',
    );
  }
  return installPackage(python, { name: 'ministack', version: '1.5.33' });
}

export interface Emulator {
  /** The last lines that it and the functions in it wrote. */
  log(lines: number): string;
  stop(): Promise<void>;
}

/**
 * @param options.python what {@link installEmulator} returned
 * @param options.port where it listens
 * @param options.publicPort the port of the front through which everybody, the functions included, reaches it: it
 *   makes queue URLs of this
 * @param options.scratch a folder to make for all it writes; no folder above it may hold a `package.json`, since
 *   that would change how Node reads the scripts which the emulator puts there to run functions
 */
export async function startEmulator(options: {
  readonly python: string;
  readonly port: number;
  readonly publicPort: number;
  readonly scratch: string;
}): Promise<Emulator> {
  const { python, port, publicPort, scratch } = options;
  mkdirSync(scratch);
  const logFile = join(scratch, 'emulator.log');
  const log = openSync(logFile, 'w');
  const server = [
    '-m',
    'hypercorn',
    'ministack_imports:app',
    '--bind',
    `127.0.0.1:${port.toString()}`,
    '--keep-alive',
    '75',
  ];
  // Not its own command, which would listen where it says that it is.
  const child = spawn(python, server, {
    cwd: scratch,
    // A process group of its own: the functions run as its children and must end with it.
    detached: true,
    stdio: ['ignore', log, log],
    env: {
      PATH: process.env['PATH'],
      HOME: scratch,
      PYTHONPATH: import.meta.dirname,
      PYTHONDONTWRITEBYTECODE: '1',
      TMPDIR: scratch,
      STATE_DIR: join(scratch, 'state'),
      GATEWAY_PORT: publicPort.toString(),
      // The host that its queue URLs name: the SDK remarks on every request whose queue is at another.
      AWS_ENDPOINT_URL_SQS: `http://localhost:${publicPort.toString()}`,
      // Roles, bucket and queue policies are enforced: a permission that is missing here is missing on AWS.
      AUTH: 'true',
      // Functions are plain processes of this machine's Node.
      LAMBDA_EXECUTOR: 'local',
      // The functions inherit this. On AWS they run on a newer Node than this machine may have.
      AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: 'true',
      ...credentials,
    },
  });
  const emulator: Emulator = {
    log: (lines) => lastLines(logFile, lines),
    stop: () => stop(child),
  };
  try {
    await answers(`http://127.0.0.1:${port.toString()}/_ministack/health`, child);
  } catch (error) {
    await emulator.stop();
    throw new Error(`The emulator did not start.\n${emulator.log(20)}`, { cause: error });
  }
  return emulator;
}

async function answers(url: string, child: ChildProcess): Promise<void> {
  const end = Date.now() + 60_000;
  for (;;) {
    if (child.exitCode !== null) throw new Error(`It ended with code ${child.exitCode.toString()}.`);
    try {
      const response = await fetch(url, { signal: AbortSignal.timeout(2_000) });
      await response.arrayBuffer();
      if (response.ok) return;
    } catch (error) {
      if (Date.now() > end) throw error;
    }
    await sleep(100);
  }
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.pid === undefined) return;
  const ended = new Promise((resolve) => child.once('exit', resolve));
  if (child.exitCode === null && child.signalCode === null) {
    child.kill('SIGTERM');
    await Promise.race([ended, sleep(5_000, undefined, { ref: false })]);
  }
  killGroup(child); // The functions' processes are in it.
}
