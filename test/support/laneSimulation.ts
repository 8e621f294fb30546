import { newLane, processPrefix, queueLane, type LaneKey, type Limits } from '../../lambdas/lane/lane.ts';
import { leave } from '../../lambdas/lane/rules/leaving.ts';
import type { Turn } from '../../lambdas/value/turn.ts';
import { createLanes } from '../../lambdas/lane/slots/changeLanes.ts';
import { createCircuits } from '../../lambdas/lane/slots/circuitView.ts';
import { createLaneGate } from '../../lambdas/lane/slots/acquire.ts';
import { queueEntry } from '../../lambdas/lane/rules/entry.ts';
import type { AdmittedTo } from '../../lambdas/job/job.ts';
import { fairRules } from '../../lambdas/lane/slots/lineRows.ts';
import { createProcessSlots } from '../../lambdas/lane/slots/processSlots.ts';
import { Tally } from './faults.ts';
import { LaneTable } from './lanesInMemory.ts';
import { Clock, randomOf } from './simulatedClock.ts';

/**
 * A simulation of workers that deliver through lanes: the real code of lanes, a table in memory with DynamoDB's conditional
 * writes, a queue with SQS's visibility timeout and at-least-once delivery, and a clock that jumps to the next event. A seed
 * determines the order of events and the calls at which processes die, so a failed run can be repeated.
 */

// The simulated clock does not wait for modules to load.
await fairRules();

/** Milliseconds. A job that arrives within this time is not late. */
export const quicklyMs = 5;

type Job =
  | { readonly kind: 'pump'; readonly key: LaneKey }
  | {
      readonly kind: 'attempt';
      readonly id: string;
      readonly admittedTo?: AdmittedTo;
      readonly isAgain?: boolean;
    };

/** Marks a job as delivered again by SQS. */
const again = (job: Job): Job => (job.kind === 'pump' ? job : { ...job, isAgain: true });

export interface Sent {
  readonly id: string;
  readonly queue: string | undefined;
  readonly key: string | undefined;
  readonly limits: Limits;
  readonly turn?: Turn;
  readonly madeAt: number;
  readonly lastsMs: number;
  done: boolean;
}

class Died extends Error {}

export const simulatedFaults = [
  'death before a call',
  'death after a call',
  'death while a message was in flight',
  'done work handed out again',
  'work of a dead process handed out again',
  'work that came late',
] as const;
export type SimulatedFault = (typeof simulatedFaults)[number];

/** Whether a process is alive, and its deliveries, which end with it. */
interface Alive {
  isDead: boolean;
  readonly running: Set<() => void>;
}

export interface Observed {
  readonly lane: string;
  readonly id: string;
  readonly at: number;
  readonly what: 'start' | 'end';
}

interface SimulationOptions {
  readonly seed: number;
  readonly deaths: number;
  readonly workers: number;
  readonly accountParallelism: number;
  /** The shortest and longest time until a granted job arrives, in milliseconds. */
  readonly transitMs: readonly [number, number];
}

export class Simulation {
  readonly clock = new Clock();
  readonly table = new LaneTable();
  readonly messages = new Map<string, Sent>();
  readonly observed: Observed[] = [];
  readonly random: () => number;
  readonly faults = new Tally<SimulatedFault>();
  deathsLeft = 40;
  #visible: Job[] = [];
  #running = 0;
  readonly #options: SimulationOptions;
  #process: ReturnType<Simulation['process']>[] = [];

  constructor(options: SimulationOptions) {
    this.#options = options;
    this.random = randomOf(options.seed);
    this.#process = Array.from({ length: 3 }, () => this.process());
  }

  /** A call of AWS: it takes time, and its process may die before or after it. */
  async #call<T>(alive: Alive, make: () => T): Promise<T> {
    const dies = (fault: SimulatedFault): boolean => {
      if (alive.isDead) return true;
      if (this.deathsLeft <= 0 || this.random() >= this.#options.deaths) return false;
      this.deathsLeft -= 1;
      alive.isDead = true;
      this.faults.count(fault);
      this.faults.count('death while a message was in flight', alive.running.size);
      for (const end of alive.running) end();
      return true;
    };
    await this.clock.sleep(1 + Math.floor(this.random() * 8));
    if (dies('death before a call')) throw new Died();
    const result = make();
    await this.clock.sleep(1 + Math.floor(this.random() * 4));
    if (dies('death after a call')) throw new Died();
    return result;
  }

  /** A process with separate memory of lanes and slots. */
  process() {
    const alive: Alive = { isDead: false, running: new Set() };
    const { clock } = this;
    const store = this.table.store((make) => this.#call(alive, make));
    const lanes = createLanes({
      store,
      jobs: {
        sendGranted: (key, granted) =>
          this.#call(alive, () => {
            for (const { messageId, ticket } of granted) {
              const admittedTo = { lane: key.kind, name: key.name, ticket, sentAt: clock.now };
              this.send({ kind: 'attempt', id: messageId, admittedTo }, this.#transitMs());
            }
          }),
        sendPump: (key, dueAt) =>
          this.#call(alive, () => {
            this.send({ kind: 'pump', key }, Math.max(0, dueAt - clock.now));
          }),
      },
      now: () => clock.now,
      sleep: clock.sleep,
      random: this.random,
    });
    const slots = createProcessSlots({
      lanes,
      process: `${processPrefix}${Math.floor(this.random() * 1e9)}`,
      now: () => clock.now,
      sleep: clock.sleep,
      report: () => {},
    });
    const circuits = createCircuits({
      lanes,
      load: store.load,
      now: () => clock.now,
      tell: () => {},
      report: () => {},
    });
    return {
      alive,
      lanes,
      laneGate: createLaneGate({
        lanes,
        slots,
        circuits,
        now: () => clock.now,
        sleep: clock.sleep,
        report: () => {},
      }),
    };
  }

  #transitMs(): number {
    const [least, most] = this.#options.transitMs;
    if (most > quicklyMs) this.faults.count('work that came late');
    return least + Math.floor(this.random() * (most - least));
  }

  send(job: Job, delayMs: number): void {
    this.clock.at(this.clock.now + delayMs, () => {
      this.#visible.push(job);
      this.#next();
    });
  }

  #next(): void {
    while (this.#running < this.#options.workers && this.#visible.length > 0) {
      const [job] = this.#visible.splice(Math.floor(this.random() * this.#visible.length), 1);
      if (job === undefined) return;
      this.#running += 1;
      const index = Math.floor(this.random() * this.#process.length);
      let process = this.#process[index] ?? this.process();
      if (process.alive.isDead) {
        process = this.process();
        this.#process[index] = process;
      }
      void this.#perform(process, job)
        .then((isDone) => {
          // SQS sometimes delivers a finished job again.
          if (!isDone || this.random() >= 0.02) return;
          this.faults.count('done work handed out again');
          this.send(again(job), Math.floor(this.random() * 500));
        })
        .catch(() => {
          if (process.alive.isDead) this.faults.count('work of a dead process handed out again');
          // SQS delivers the job again after its visibility timeout.
          this.send(again(job), 70_000);
        })
        .finally(() => {
          this.#running -= 1;
          this.#next();
        });
    }
  }

  async #perform(process: ReturnType<Simulation['process']>, job: Job): Promise<boolean> {
    const { lanes, laneGate, alive } = process;
    if (job.kind === 'pump') {
      await lanes.update(job.key, (lane) => lane);
      return true;
    }
    const message = this.messages.get(job.id);
    if (message === undefined) throw new Error('There is no such message.');
    const queue = message.queue === undefined ? undefined : queueLane('acct', message.queue);
    const entry = { messageId: message.id, attempt: 0, queue: 'short' } as const;
    const dueAttempt = {
      ...entry,
      accountId: 'acct',
      queueName: message.queue,
      flowControl:
        message.key === undefined
          ? undefined
          : { key: message.key, madeAt: message.madeAt, ...message.limits },
      turn: message.turn,
      circuit: undefined,
      accountLimits: { parallelism: this.#options.accountParallelism, version: 1 },
      timeoutMs: 30_000,
      createdAt: 0,
      notBefore: 0,
      admittedTo: job.admittedTo,
      isAgain: job.isAgain === true,
    };
    const over = async (): Promise<void> => {
      if (queue !== undefined) await lanes.update(queue, (lane) => leave(lane, queueEntry(entry)));
    };
    if (message.done) {
      // The message is already done. Its consequences are repeated, as a delivery does.
      const { admittedTo } = job;
      if (admittedTo !== undefined && !(await laneGate.decline({ ...dueAttempt, admittedTo }, 'over'))) {
        this.send(job, 20_000);
      }
      await over();
      return true;
    }
    const acquired = await laneGate.acquire(dueAttempt);
    if (acquired === 'early') {
      // Each return waits longer than the previous one.
      this.send(job, Math.max(1_000, this.clock.now - (job.admittedTo?.sentAt ?? 0)));
      return false;
    }
    if (typeof acquired === 'string') return true;
    const tell = (what: Observed['what']): void => {
      const at = this.clock.now;
      const { id } = message;
      this.observed.push({ lane: 'account', id, at, what });
      if (message.key !== undefined) this.observed.push({ lane: `key ${message.key}`, id, at, what });
      if (message.queue !== undefined) this.observed.push({ lane: `queue ${message.queue}`, id, at, what });
    };
    if (alive.isDead) throw new Died();
    tell('start');
    let hasEnded = false;
    const end = (): void => {
      if (!hasEnded) tell('end');
      hasEnded = true;
    };
    alive.running.add(end);
    await this.clock.sleep(message.lastsMs);
    if (alive.isDead) throw new Died();
    end();
    alive.running.delete(end);
    await this.#call(alive, () => {
      message.done = true;
    });
    await Promise.all([acquired.release(), over()]);
    return true;
  }

  makeQueue(name: string, parallelism: number): void {
    const key = queueLane('acct', name);
    this.table.put({ ...newLane(key, this.clock.now, { parallelism }), version: 1 });
  }
}
