/** The run's view of its stage: starts it, kills it with SIGKILL, and starts it again on the same data and port. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, mkdirSync, type WriteStream } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { pending } from '../../local/pending.ts';
import { cutPower, watchStore } from '../support/powerCut/powerCut.ts';
import { canWatch } from '../support/powerCut/writeLog.ts';
import { randomOf } from '../support/simulatedClock.ts';
import { advanceTo } from '../support/testControl.ts';
import { Line } from './line.ts';
import { toRun, type Measure, type ToRun, type ToStage } from './stageMessages.ts';

export interface StageHandleOptions {
  readonly seed: number;
  readonly processes: number;
  readonly stageFile: string;
  readonly threadFile: string;
  readonly dataDirectory: string;
  readonly logFile: string;
  /** The socket at which its processes reach the run. */
  readonly socketFile: string;
}

interface Worker {
  readonly line: StageLine;
  readonly pid: number;
  readonly number: number;
}
type StageLine = Line<ToStage, ToRun>;

/** A stage that waits for its loss of power, but writes nothing for this long, is killed anyway. */
const mostIdleMs = 20_000;

const mostReplacingMs = 180_000;

export class StageHandle {
  readonly #options: StageHandleOptions;
  readonly #log: WriteStream;
  readonly #random: () => number;
  readonly #server: Server;
  #child: ChildProcess | undefined;
  /** Takes the line of the stage that is started next. */
  #started: (line: StageLine) => void = () => undefined;
  readonly #workers = new Map<number, Worker>();
  #numbers = 0;
  #isStormy = false;
  #variables: Readonly<Record<string, string>> = {};
  /** The sum of jumps, which each new process includes. */
  #aheadMs = 0;
  generation = 0;
  /** How often it was killed while it ran. */
  kills = 0;
  memberKills = 0;
  /** The number of times that all members were replaced. */
  replacements = 0;
  /** Whether its writes can be watched on this system. */
  readonly canLosePower = canWatch();
  /** How often it lost power while it ran, and lost data with it. */
  powerLosses = 0;
  #up = pending();
  /** Faults by process, and by kind. */
  readonly #faults = new Map<number, Readonly<Record<string, number>>>();

  constructor(options: StageHandleOptions) {
    this.#options = options;
    this.#log = createWriteStream(options.logFile, { flags: 'a' });
    this.#random = randomOf(options.seed);
    mkdirSync(options.dataDirectory, { recursive: true });
    this.#server = createServer((socket) => void this.#take(socket)).listen(options.socketFile);
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
    this.#isStormy = false;
    const { dataDirectory, stageFile, socketFile } = this.#options;
    const started = new Promise<StageLine>((resolve) => {
      this.#started = resolve;
    });
    // The young space has Node's default size, because each function's thread has one.
    const child = spawn(process.execPath, ['--expose-gc', stageFile, socketFile], {
      env: {
        ...process.env,
        ...(mayLosePower && this.canLosePower && watchStore(dataDirectory).env),
        SVC_WRITE_GROUP: '1',
        // Hardly more than on AWS, so that hanging calls are given up.
        CLIENT_PATIENCE: '2',
        POWERTOOLS_LOG_LEVEL: 'WARN',
        AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: 'true',
      },
      stdio: ['ignore', 'pipe', 'pipe'],
      // All processes of the stage lose power together.
      detached: true,
    });
    this.#child = child;
    child.stdout.pipe(this.#log, { end: false });
    child.stderr.pipe(this.#log, { end: false });
    const exited = once(child, 'exit').then(() => undefined);
    const line = await Promise.race([started, exited]);
    const ready = await line?.told('ready');
    if (ready === undefined) throw new Error('The stage ended; its log has why.');
    this.#variables = ready.variables;
  }

  async #take(socket: Socket): Promise<void> {
    const line: StageLine = new Line({ socket, parse: (message) => toRun.parse(message) });
    const hello = await line.told('hello');
    if (hello === undefined) return;
    const { seed, processes, dataDirectory, threadFile } = this.#options;
    this.#numbers += 1;
    const number = this.#numbers;
    if (hello.isMember || processes === 1) {
      this.#workers.set(number, { line, number, pid: hello.pid });
      void line.closed.then(() => this.#workers.delete(number));
    }
    line.tell({
      kind: 'init',
      ...{ seed, processes, dataDirectory, threadFile, number },
      port: this.#variables['SVC_URL'] === undefined ? 0 : Number(new URL(this.url).port),
      aheadMs: this.#aheadMs,
      isStormy: this.#isStormy,
    });
    if (!hello.isMember) this.#started(line);
  }

  /** Resolves once it runs: immediately, or after the next start. */
  get up(): Promise<void> {
    return this.#up.promise;
  }

  tell(kind: 'storm' | 'calm' | 'lose power'): void {
    this.#isStormy = kind !== 'calm';
    for (const { line } of this.#workers.values()) line.tell({ kind });
  }

  get processes(): number {
    return this.#workers.size;
  }

  /** The measures of the processes that work, by number. */
  async measure(): Promise<ReadonlyMap<number, Measure>> {
    const measures = new Map<number, Measure>();
    await this.#ask({ kind: 'measure' }, 'measured', ({ measure, faults }, number) => {
      this.#faults.set(number, faults);
      measures.set(number, measure);
    });
    return measures;
  }

  /** Asks each process that works; one that ends gives no answer. */
  async #ask<Kind extends ToRun['kind']>(
    message: ToStage,
    kind: Kind,
    take: (answer: Extract<ToRun, { readonly kind: Kind }>, number: number) => void,
  ): Promise<void> {
    const asked = [...this.#workers.values()].map(async ({ line, number }) => {
      const answer = line.told(kind);
      line.tell(message);
      const given = await answer;
      if (given !== undefined) take(given, number);
    });
    await Promise.all(asked);
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
    this.#aheadMs += ms;
    await this.#ask({ kind: 'clock', aheadMs: this.#aheadMs }, 'moved', () => undefined);
  }

  /** Lets time pass, and waits for what becomes due. */
  advance(ms: number): Promise<void> {
    const settle = async (): Promise<number | undefined> => {
      let first = Infinity;
      await this.#ask({ kind: 'settle' }, 'settled', ({ next }) => {
        first = Math.min(first, next ?? Infinity);
      });
      return first;
    };
    return advanceTo(this.now() + ms, settle, (at) => this.jump(Math.max(0, at - this.now())));
  }

  /** Sends SIGKILL, and resolves when its processes have ended. */
  async kill(): Promise<void> {
    await this.#end((child) => {
      if (child.kill('SIGKILL')) this.kills += 1;
    });
  }

  /** Kills one of several processes that share the work. */
  async killMember(): Promise<void> {
    const workers = [...this.#workers.values()];
    const victim = workers[Math.floor(this.#random() * workers.length)];
    if (victim === undefined) return;
    process.kill(victim.pid, 'SIGKILL');
    await victim.line.closed;
    this.memberKills += 1;
  }

  /** Lets new members replace all others. */
  async replaceMembers(): Promise<void> {
    const child = this.#child;
    const closed = [...this.#workers.values()].map(({ line }) => line.closed);
    const replaced = Promise.all(closed).then(() => this.#child === child);
    child?.kill('SIGHUP');
    if (await Promise.race([replaced, setTimeout(mostReplacingMs, false, { ref: false })])) {
      this.replacements += 1;
    }
  }

  /**
   * Kills the stage during a write, and removes what was not on the disk.
   *
   * @param kept the share of it that is kept, from 0 to 1
   * @returns the number of lost sectors
   */
  async losePower(kept: number): Promise<number> {
    await this.#end((child) => {
      this.tell('lose power');
      void setTimeout(mostIdleMs, undefined, { ref: false }).then(() => child.kill('SIGKILL'));
    });
    const { lost } = cutPower(this.#options.dataDirectory, { kept, random: this.#random });
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
    await Promise.all([...this.#workers.values()].map(({ line }) => line.closed));
  }

  async close(): Promise<void> {
    await this.kill();
    this.#server.close();
    this.#log.end();
  }

  #variable(name: string): string {
    const value = this.#variables[name];
    if (value === undefined) throw new Error(`The stage has not told ${name}.`);
    return value;
  }
}
