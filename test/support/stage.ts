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

export interface Management {
  readonly url: string;
  readonly user: string;
  readonly password: string;
}

export interface StageOptions {
  /** Default: a new temporary folder. */
  readonly dataDir?: string;
  /** Default: any free port. */
  readonly port?: number;
  /** More flags of `npm start`. */
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Lets `advance` move the stage's clock. */
  readonly testControl?: boolean;
  /** The arguments of Node.js before the flags. By default they run the bundle. */
  readonly command?: readonly string[];
}

/** A local stage in a separate process, like a user's. */
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
   * Lets time pass for the stage. Resolves when the messages that became due have been received by a function. Requires
   * `testControl`. After a restart the stage has real time again.
   */
  readonly advance: (ms: number) => Promise<void>;
  /** Steps the stage's clock, forward or back, without telling the stage. Requires `testControl`. */
  readonly step: (ms: number) => Promise<void>;
  /** Deletes expired data by the stage's clock; returns the number of rows. Requires `testControl`. */
  readonly expire: () => Promise<number>;
  /** Sends SIGTERM; resolves to the exit code. */
  readonly stop: () => Promise<number>;
  readonly kill: () => Promise<void>;
  /** Resolves when the process has ended. */
  readonly exited: Promise<number>;
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

/** The arguments with which `npm start` runs the stage. */
export const startCommand: readonly string[] = manifest.scripts.start.replace(/^exec node /, '').split(' ');

/**
 * Runs the stage; resolves when it exits, or when `isReady` accepts its output. It ends with this process, even if that is
 * killed.
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
    // A test can control the clock of one process only.
    env: { SVC_PROCESSES: '1', ...process.env, ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  // Nothing is written to the pipe. When it closes, the stage knows that this process has ended.
  child.stdin.on('error', () => undefined);
  let output = '';
  const exited = once(child, 'exit').then(() => {
    child.stdin.destroy();
    return child.exitCode ?? -1;
  });
  /** The output is complete only after the exit. */
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

/** Starts a local stage, and waits until it is ready. */
export async function startStage(options: StageOptions = {}): Promise<Stage> {
  const dataDir = options.dataDir ?? (await mkdtemp(join(tmpdir(), 'svc-stage-')));
  const flags = ['--port', String(options.port ?? 0), '--data-dir', dataDir, ...(options.args ?? [])];
  // A stage that other machines can reach prints no secrets.
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
    step: async (ms) => {
      await control('clock', { stepMs: ms });
    },
    advance: async (ms) => {
      await control('clock', { advanceMs: ms });
    },
    expire: async () => z.object({ deleted: z.number() }).parse(await control('expire', {})).deleted,
    stop: async () => {
      child.kill('SIGTERM');
      return exited;
    },
    kill,
    exited,
    remove: async () => {
      await kill();
      await endDatabase(dataDir);
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}
