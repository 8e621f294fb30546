/** MiniStack, a third-party AWS emulator, in a fixed version and as one process of this machine. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { findPython, installPackage } from '../support/python.ts';
import { killGroup, lastLines } from './program.ts';

/** The emulator’s account. Any access key is its root user. */
export const account = '000000000000';
export const credentials = {
  AWS_ACCESS_KEY_ID: 'test',
  AWS_SECRET_ACCESS_KEY: 'test',
} as const;
export const rootUser = {
  accessKeyId: credentials.AWS_ACCESS_KEY_ID,
  secretAccessKey: credentials.AWS_SECRET_ACCESS_KEY,
};

/**
 * @returns the Python interpreter that runs it
 * @throws Error if no Python can run the emulator
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
  /** The last lines of its output and of its functions’. */
  log(lines: number): string;
  stop(): Promise<void>;
}

/**
 * @param options.python the interpreter from {@link installEmulator}
 * @param options.port where it listens
 * @param options.publicPort the port of the front, through which all callers reach it, including functions. It is in queue URLs
 * @param options.scratch a folder to make, for all its files. No parent folder may have a `package.json`, which would change
 * how
 *   Node reads the emulator’s scripts
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
  // Its own command would listen on the port that it announces, which is the front’s.
  const child = spawn(python, server, {
    cwd: scratch,
    // The functions are its children and must end with it, so it gets a process group.
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
      // The host in its queue URLs. The SDK warns about a queue at another host.
      AWS_ENDPOINT_URL_SQS: `http://localhost:${publicPort.toString()}`,
      // Roles, bucket policies and queue policies are enforced, so a right that is missing here is missing on AWS, too.
      AUTH: 'true',
      // Functions are processes of this machine’s Node.
      LAMBDA_EXECUTOR: 'local',
      // Functions inherit this. On AWS they run on a newer Node than this machine may have.
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
  killGroup(child); // The group has the functions’ processes.
}
