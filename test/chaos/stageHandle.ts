/** The run's view of its stage: starts it, kills it with SIGKILL, and starts it again on the same data and port. */
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, mkdirSync, type WriteStream } from 'node:fs';
import { request } from 'undici';
import * as z from 'zod/mini';
import { pending } from '../../local/pending.ts';
import { cutPower, watchStore } from '../support/powerCut/powerCut.ts';
import { canWatch } from '../support/powerCut/writeLog.ts';
import { randomOf } from '../support/simulatedClock.ts';
import { toParent, type Measure, type StageInit, type ToParent, type ToStage } from './stageMessages.ts';

export interface StageHandleOptions {
  readonly seed: number;
  readonly stageFile: string;
  readonly threadFile: string;
  readonly dataDirectory: string;
  readonly logFile: string;
}

/** The time that passes at once. Longer steps may take a busy machine too long. */
const advanceAtOnceMs = 60_000;
/** At first a storm's whole backlog is due. */
const longestAdvanceMs = 1_800_000;
const clockAnswer = z.object({ now: z.number() });

/** A stage that waits for its loss of power, but writes nothing for this long, is killed anyway. */
const mostIdleMs = 20_000;

export class StageHandle {
  readonly #options: StageHandleOptions;
  readonly #log: WriteStream;
  readonly #random: () => number;
  #child: ChildProcess | undefined;
  #variables: Readonly<Record<string, string>> = {};
  /** The sum of jumps, which a restarted clock includes. */
  #aheadMs = 0;
  generation = 0;
  /** How often it was killed while it ran. */
  kills = 0;
  /** Whether its writes can be watched on this system. */
  readonly canLosePower = canWatch();
  /** How often it lost power while it ran, and lost data with it. */
  powerLosses = 0;
  #up = pending();
  /** Faults by start, and by kind. */
  readonly #faults = new Map<number, Readonly<Record<string, number>>>();

  constructor(options: StageHandleOptions) {
    this.#options = options;
    this.#log = createWriteStream(options.logFile, { flags: 'a' });
    this.#random = randomOf(options.seed);
    mkdirSync(options.dataDirectory, { recursive: true });
  }

  get url(): string {
    return this.#variable('SVC_URL');
  }

  get token(): string {
    return this.#variable('SVC_TOKEN');
  }

  /** The management API's credentials, as a header value. */
  get managementAuthorization(): string {
    const [user, password] = [
      this.#variable('SVC_MANAGEMENT_USER'),
      this.#variable('SVC_MANAGEMENT_PASSWORD'),
    ];
    return `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;
  }

  get signingKeys() {
    return {
      current: this.#variable('SVC_CURRENT_SIGNING_KEY'),
      next: this.#variable('SVC_NEXT_SIGNING_KEY'),
    };
  }

  now(): number {
    return Date.now() + this.#aheadMs;
  }

  /**
   * Starts the stage, and tries again if that fails, because a busy machine may be slow after a kill.
   *
   * @param mayLosePower whether its writes are watched, so that it can lose power
   */
  async start(mayLosePower = false): Promise<void> {
    for (let tries = 1; ; tries += 1) {
      try {
        await this.#startOnce(mayLosePower);
        this.#up.resolve();
        return;
      } catch (error) {
        if (tries === 5) throw error;
      }
    }
  }

  async #startOnce(mayLosePower: boolean): Promise<void> {
    this.generation += 1;
    const { seed, dataDirectory, threadFile, stageFile } = this.#options;
    const port = this.#variables['SVC_URL'] === undefined ? 0 : Number(new URL(this.url).port);
    const init: StageInit = {
      ...{ seed, dataDirectory, threadFile, port },
      generation: this.generation,
      aheadMs: this.#aheadMs,
    };
    const child = fork(stageFile, [JSON.stringify(init)], {
      // The young space has Node's default size, because each function's thread has one.
      execArgv: ['--expose-gc'],
      env: {
        ...process.env,
        ...(mayLosePower && this.canLosePower && watchStore(dataDirectory).env),
        // Hardly more than on AWS, so that hanging calls are given up.
        CLIENT_PATIENCE: '2',
        POWERTOOLS_LOG_LEVEL: 'WARN',
        AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: 'true',
      },
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
    this.#child = child;
    child.stdout?.pipe(this.#log, { end: false });
    child.stderr?.pipe(this.#log, { end: false });
    const ready = this.#told('ready', child);
    const { variables } = await ready;
    this.#variables = variables;
  }

  /** Resolves once it runs: immediately, or after the next start. */
  get up(): Promise<void> {
    return this.#up.promise;
  }

  tell(message: ToStage): void {
    this.#child?.send(message);
  }

  async measure(): Promise<Measure> {
    if (this.#child === undefined) throw new Error('The stage does not run.');
    const told = this.#told('measured', this.#child);
    this.tell('measure');
    const { measure, faults } = await told;
    this.#faults.set(this.generation, faults);
    return measure;
  }

  get faults(): Readonly<Record<string, number>> {
    const sums: Record<string, number> = {};
    for (const faults of this.#faults.values()) {
      for (const [what, count] of Object.entries(faults)) sums[what] = (sums[what] ?? 0) + count;
    }
    return sums;
  }

  /** Moves its clock forward without waiting. */
  async jump(ms: number): Promise<void> {
    await this.#setClock({ jumpMs: ms });
    this.#aheadMs += ms;
  }

  /** Lets time pass, and waits for what becomes due. */
  async advance(ms: number): Promise<void> {
    const before = performance.now();
    for (let left = ms; left > 0; left -= advanceAtOnceMs) {
      const { now } = await this.#setClock({ advanceMs: Math.min(left, advanceAtOnceMs) });
      // The stage's clock includes the real time that this took.
      this.#aheadMs = Math.max(this.#aheadMs, now - Date.now());
    }
    if (performance.now() < before) throw new Error('The clock of this process went back.');
  }

  /** Sends SIGKILL, and resolves when the process has ended. */
  async kill(): Promise<void> {
    await this.#end((child) => {
      if (child.kill('SIGKILL')) this.kills += 1;
    });
  }

  /**
   * Kills the stage during a write, and removes what was not on the disk.
   *
   * @param kept the share of it that is kept, from 0 to 1
   * @returns the number of lost sectors
   */
  async losePower(kept: number): Promise<number> {
    await this.#end((child) => {
      child.send('lose power' satisfies ToStage);
      setTimeout(() => child.kill('SIGKILL'), mostIdleMs).unref();
    });
    const { lost } = cutPower(this.#options.dataDirectory, kept, this.#random);
    if (lost > 0) this.powerLosses += 1;
    return lost;
  }

  async #end(end: (child: ChildProcess) => void): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    this.#up = pending();
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, 'exit');
    end(child);
    await exited;
  }

  async close(): Promise<void> {
    await this.kill();
    this.#log.end();
  }

  async #setClock(change: object): Promise<{ now: number }> {
    // `fetch` times out after five minutes.
    const { statusCode, body } = await request(`${this.#variable('SVC_TEST_CONTROL_URL')}/test/clock`, {
      method: 'POST',
      body: JSON.stringify(change),
      headersTimeout: longestAdvanceMs,
    });
    const text = await body.text();
    if (statusCode !== 200) throw new Error(text);
    return clockAnswer.parse(JSON.parse(text));
  }

  #variable(name: string): string {
    const value = this.#variables[name];
    if (value === undefined) throw new Error(`The stage has not told ${name}.`);
    return value;
  }

  #told<Kind extends ToParent['kind']>(
    kind: Kind,
    child: ChildProcess,
  ): Promise<Extract<ToParent, { readonly kind: Kind }>> {
    return new Promise((resolve, reject) => {
      const onMessage = (raw: unknown): void => {
        const message = toParent.parse(raw);
        if (message.kind !== kind) return;
        stop();
        resolve(message as Extract<ToParent, { readonly kind: Kind }>);
      };
      const onExit = (code: number | null, signal: string | null): void => {
        stop();
        reject(new Error(`The stage ended (${signal ?? code ?? 'unknown'}); its log has why.`));
      };
      const stop = (): void => {
        child.off('message', onMessage);
        child.off('exit', onExit);
      };
      child.on('message', onMessage);
      child.on('exit', onExit);
    });
  }
}
