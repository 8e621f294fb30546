import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inject } from 'vitest';
import * as z from 'zod/mini';
import { endDatabase, variablesOfDatabase } from '../differential/stageDatabase.ts';
import { underWatch } from './underWatch.ts';
import manifest from '../../package.json' with { type: 'json' };
import { root } from './bundledStage.ts';

/** The URL and the credentials of the management API. */
export interface Management {
  readonly url: string;
  readonly user: string;
  readonly password: string;
}

export interface StageOptions {
  /** A new temporary one when absent. */
  readonly dataDir?: string;
  /** Any free one when absent. */
  readonly port?: number;
  /** Further flags of `npm start`. */
  readonly args?: readonly string[];
  /** More environment variables. */
  readonly env?: Readonly<Record<string, string>>;
  /** Lets `advance` set the stage's clock forward. */
  readonly testControl?: boolean;
  /** The arguments of Node.js before the flags; by default those that run the bundle. */
  readonly command?: readonly string[];
}

/** A local stage in a process of its own, like a user's. */
export interface Stage {
  readonly url: string;
  /** Undefined without the flag `--publish-port`. */
  readonly publishUrl: string | undefined;
  readonly token: string;
  readonly readOnlyToken: string;
  readonly currentSigningKey: string;
  readonly nextSigningKey: string;
  readonly management: Management;
  readonly dataDir: string;
  readonly pid: number;
  /** The output so far on stdout and stderr. */
  readonly output: () => string;
  /**
   * Lets time pass on the stage's clock, for its queues, its schedules and its handlers; resolves when the messages that became
   * due meanwhile have been handed out. The stage needs `testControl`, and has real time again after a restart.
   */
  readonly advance: (ms: number) => Promise<void>;
  /** Deletes what is past its time by the stage's clock; returns the number of rows. It needs `testControl`. */
  readonly expire: () => Promise<number>;
  /** Sends SIGTERM; resolves to the exit code. */
  readonly stop: () => Promise<number>;
  /** Sends SIGKILL; resolves when the process has gone. */
  readonly kill: () => Promise<void>;
  /** Kills it if it still runs, and removes the data directory. */
  readonly remove: () => Promise<void>;
}

const printed = z.object({
  SVC_URL: z.url(),
  SVC_PUBLISH_URL: z.optional(z.url()),
  SVC_TOKEN: z.string(),
  SVC_READ_ONLY_TOKEN: z.string(),
  SVC_CURRENT_SIGNING_KEY: z.string(),
  SVC_NEXT_SIGNING_KEY: z.string(),
  SVC_MANAGEMENT_URL: z.url(),
  SVC_MANAGEMENT_USER: z.string(),
  SVC_MANAGEMENT_PASSWORD: z.string(),
  SVC_TEST_CONTROL_URL: z.optional(z.url()),
});

/** The arguments with which Node.js runs the stage as `npm start` does. */
export const startCommand: readonly string[] = manifest.scripts.start.replace(/^exec node /, '').split(' ');

/**
 * Runs the stage; resolves when it exits, or when `isReady` accepts its output. It ends with this process, however that ends: a
 * killed test run leaves no stage behind.
 */
export async function runStage(
  flags: readonly string[],
  isReady: (output: string) => boolean = () => false,
  env: Readonly<Record<string, string>> = {},
  command: readonly string[] = [inject('bundledStage')],
) {
  const watched = underWatch([process.execPath, ...command, ...flags]);
  const child = spawn(watched.file, watched.args, {
    cwd: root,
    env: { ...process.env, ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  // Nothing is written to the pipe: its end tells the stage that this process has ended.
  child.stdin.on('error', () => undefined);
  let output = '';
  const exited = once(child, 'exit').then(() => {
    child.stdin.destroy();
    return child.exitCode ?? -1;
  });
  /** Its output may be read only after its exit is known. */
  const closed = once(child, 'close');
  const ready = new Promise<void>((resolve) => {
    const read = (text: string): void => {
      output += text;
      if (isReady(output)) resolve();
    };
    child.stdout.setEncoding('utf8').on('data', read);
    child.stderr.setEncoding('utf8').on('data', read);
  });
  await Promise.race([ready, exited]);
  return { child, exited, closed, output: () => output };
}

/** Starts a local stage and waits until it is ready. */
export async function startStage(options: StageOptions = {}): Promise<Stage> {
  const dataDir = options.dataDir ?? (await mkdtemp(join(tmpdir(), 'svc-stage-')));
  const flags = ['--port', String(options.port ?? 0), '--data-dir', dataDir, ...(options.args ?? [])];
  // A stage for clients of other machines prints no secrets.
  const isReady = (output: string): boolean =>
    /^SVC_MANAGEMENT_PASSWORD=.*\n|"The service is ready at .*\n/m.test(output);
  const env = {
    ...(await variablesOfDatabase(dataDir)),
    ...options.env,
    ...(options.testControl === true && { SVC_TEST_CONTROL: '1' }),
  };
  const { child, exited, closed, output } = await runStage(flags, isReady, env, options.command);
  const { pid } = child;
  if (pid === undefined || child.exitCode !== null) {
    await closed;
    throw new Error(`The stage did not start:\n${output()}`);
  }
  const text = output().includes('SVC_URL=') ? output() : readFileSync(join(dataDir, 'env'), 'utf8');
  const lines = [...text.matchAll(/^(SVC_\w+)=(.*)$/gm)];
  const variables = printed.parse(Object.fromEntries(lines.map(([, name, value]) => [name, value])));
  const kill = async (): Promise<void> => {
    child.kill('SIGKILL');
    await exited;
  };
  const control = async (what: string, input: object): Promise<unknown> => {
    const { SVC_TEST_CONTROL_URL: base } = variables;
    if (base === undefined) throw new Error('The stage was started without testControl.');
    const response = await fetch(`${base}/test/${what}`, { method: 'POST', body: JSON.stringify(input) });
    if (response.status !== 200) throw new Error(await response.text());
    return response.json();
  };
  return {
    url: variables.SVC_URL,
    publishUrl: variables.SVC_PUBLISH_URL,
    token: variables.SVC_TOKEN,
    readOnlyToken: variables.SVC_READ_ONLY_TOKEN,
    currentSigningKey: variables.SVC_CURRENT_SIGNING_KEY,
    nextSigningKey: variables.SVC_NEXT_SIGNING_KEY,
    management: {
      url: variables.SVC_MANAGEMENT_URL,
      user: variables.SVC_MANAGEMENT_USER,
      password: variables.SVC_MANAGEMENT_PASSWORD,
    },
    dataDir,
    pid,
    output,
    advance: async (ms) => {
      await control('clock', { advanceMs: ms });
    },
    expire: async () => z.object({ deleted: z.number() }).parse(await control('expire', {})).deleted,
    stop: async () => {
      child.kill('SIGTERM');
      return exited;
    },
    kill,
    remove: async () => {
      await kill();
      await endDatabase(dataDir);
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}
