/** The stage of a run, as its parent has it: started, killed with SIGKILL and started again on the same data and the same port. */
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
  /** The bundle of `stageProcess.ts`. */
  readonly stageFile: string;
  readonly threadFile: string;
  readonly dataDirectory: string;
  /** Takes what the stage writes. */
  readonly logFile: string;
}

/** Time that passes at once: what is due in a quarter of an hour may take a busy machine long. */
const advanceAtOnceMs = 60_000;
/** What is due then is a storm's backlog at first. */
const longestAdvanceMs = 1_800_000;
const clockAnswer = z.object({ now: z.number() });

/** A stage that is to lose its power, and writes nothing for so long, is killed all the same. */
const mostIdleMs = 20_000;

export class StageHandle {
  readonly #options: StageHandleOptions;
  readonly #log: WriteStream;
  readonly #random: () => number;
  #child: ChildProcess | undefined;
  #variables: Readonly<Record<string, string>> = {};
  /** The jumps so far. The clock goes on from there after a restart. */
  #aheadMs = 0;
  generation = 0;
  /** How often it was killed while it ran. */
  kills = 0;
  /** Whether its writes can be watched here. */
  readonly canLosePower = canWatch();
  /** How often it lost its power while it ran, and something of its store with it. */
  powerLosses = 0;
  #up = pending();
  /** Faults of earlier starts and of this one, by what they are. */
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

  /** The credentials of the management API, as the header of a request has them. */
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

  /** The stage's clock. */
  now(): number {
    return Date.now() + this.#aheadMs;
  }

  /**
   * Starts it, and again where the start fails: there is work for all at once after a kill, and a busy machine may be too slow.
   *
   * @param mayLosePower whether its writes are noted, so that it can lose its power
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
      // No larger young space than Node's own: each function's thread would have one, as large as that of `npm start` for all.
      execArgv: ['--expose-gc'],
      env: {
        ...process.env,
        ...(mayLosePower && this.canLosePower && watchStore(dataDirectory).env),
        // Little more than on AWS: a call that hangs is to be given up.
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

  /** Resolves once it runs: at once, or when it was started again after a kill. */
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

  /** Sets its clock forward, and waits for nothing. */
  async jump(ms: number): Promise<void> {
    await this.#setClock({ jumpMs: ms });
    this.#aheadMs += ms;
  }

  /** Lets time pass, and waits for what becomes due meanwhile. */
  async advance(ms: number): Promise<void> {
    const before = performance.now();
    for (let left = ms; left > 0; left -= advanceAtOnceMs) {
      const { now } = await this.#setClock({ advanceMs: Math.min(left, advanceAtOnceMs) });
      // The time that it took is real, and the clock counts it, too.
      this.#aheadMs = Math.max(this.#aheadMs, now - Date.now());
    }
    if (performance.now() < before) throw new Error('The clock of this process went back.');
  }

  /** SIGKILL; resolves when the process has gone. */
  async kill(): Promise<void> {
    await this.#end((child) => {
      if (child.kill('SIGKILL')) this.kills += 1;
    });
  }

  /**
   * Ends it in the middle of a write, and takes what was not on the disk.
   *
   * @param kept the part of that which reached the disk all the same, from 0 to 1
   * @returns the sectors that were lost
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
    // `fetch` gives up after five minutes.
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
