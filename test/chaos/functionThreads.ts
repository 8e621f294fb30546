/** Lambda with a thread for each process of a function. If a thread dies, its invocations fail. */
import { Worker } from 'node:worker_threads';
import type { FunctionName } from '../../local/lambda/handlers.ts';
import type { FunctionOptions, LambdaFunction } from '../../local/lambda/lambda.ts';
import type { Chance } from './chance.ts';
import { fromThread, type ThreadMeasure, type ToThread } from './threadMessages.ts';

/** The most processes of a function; others have one. On AWS each invocation has its own. */
const mostThreads: Partial<Record<FunctionName, number>> = { deliver: 3, deliverAlone: 2, publish: 2 };

/** The largest clock difference. It must be below 5 s (`clockMarginMs`). */
const mostSkewMs = 2_000;

interface Invocation {
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: Error) => void;
}

interface Thread {
  readonly id: string;
  readonly worker: Worker;
  readonly open: Map<number, Invocation>;
  /** Whether the thread has answered before. A thread that is starting would answer late. */
  isReady: boolean;
  onMeasured?: (measure: ThreadMeasure | undefined) => void;
}

const tell = ({ worker }: Thread, message: ToThread): void => {
  worker.postMessage(message);
};

/** The invocation was cut off, which is not an error of the stage. */
export class ProcessDied extends Error {}

export class FunctionThreads {
  readonly #file: string;
  readonly #aheadMs: BigInt64Array;
  readonly #chance: (name: string) => Chance;
  readonly #threads = new Map<FunctionName, Thread[]>();
  /** The probability that an invocation by a queue is repeated, as SQS may deliver twice. */
  readonly #twice: () => number;
  readonly #count: (what: string) => void;
  #numbers = 0;

  constructor(options: {
    readonly file: string;
    /** Milliseconds by which the clock is ahead of real time. */
    readonly aheadMs: BigInt64Array;
    readonly chance: (name: string) => Chance;
    readonly twice: () => number;
    readonly count: (what: string) => void;
  }) {
    this.#file = options.file;
    this.#aheadMs = options.aheadMs;
    this.#chance = options.chance;
    this.#twice = options.twice;
    this.#count = options.count;
  }

  load = (name: FunctionName, options: FunctionOptions): Promise<LambdaFunction> =>
    Promise.resolve({
      name,
      invoke: (event) => {
        const isByQueue = typeof event === 'object' && event !== null && 'Records' in event;
        if (isByQueue && this.#chance(`twice ${name}`).is(this.#twice())) {
          // One of the two answers is lost.
          this.#invoke(name, options, event).catch(() => undefined);
          this.#count('function: invoked twice');
        }
        return this.#invoke(name, options, event);
      },
    });

  get size(): number {
    return [...this.#threads.values()].flat().length;
  }

  /** Measures each thread after a garbage collection, except those that are starting or dying. */
  async measures(): Promise<readonly ThreadMeasure[]> {
    const ready = [...this.#threads.values()].flat().filter(({ isReady }) => isReady);
    const measures = ready.map(
      (thread) =>
        new Promise<ThreadMeasure | undefined>((resolve) => {
          thread.onMeasured = resolve;
          tell(thread, { kind: 'measure' });
        }),
    );
    return (await Promise.all(measures)).filter((one) => one !== undefined);
  }

  /** @returns whether the thread existed */
  kill(id: string): boolean {
    for (const [name, threads] of this.#threads) {
      const thread = threads.find((one) => one.id === id);
      if (thread === undefined) continue;
      this.#end(name, thread);
      return true;
    }
    return false;
  }

  /** Kills a thread that has work, if any. */
  killAny(): void {
    const busy = [...this.#threads].flatMap(([name, threads]) =>
      threads.filter(({ open }) => open.size > 0).map((thread) => ({ name, thread })),
    );
    if (busy.length === 0) return;
    const { name, thread } = this.#chance('killed').of(busy);
    this.#end(name, thread);
    this.#count('function: killed');
  }

  #invoke(name: FunctionName, options: FunctionOptions, event: unknown): Promise<unknown> {
    const thread = this.#threadFor(name, options);
    this.#numbers += 1;
    const number = this.#numbers;
    return new Promise((resolve, reject) => {
      thread.open.set(number, { resolve, reject });
      tell(thread, { kind: 'invoke', number, event });
    });
  }

  /** The thread with the least work, or a new one if there may be more. */
  #threadFor(name: FunctionName, options: FunctionOptions): Thread {
    const threads = this.#threads.get(name) ?? [];
    const [least] = threads.toSorted((a, b) => a.open.size - b.open.size);
    if (least !== undefined && (least.open.size === 0 || threads.length >= (mostThreads[name] ?? 1))) {
      return least;
    }
    const thread = this.#start(name, options);
    this.#threads.set(name, [...threads, thread]);
    return thread;
  }

  #start(name: FunctionName, options: FunctionOptions): Thread {
    this.#numbers += 1;
    const id = `${name} ${this.#numbers}`;
    const skewMs = this.#chance(`skew ${name}`).from(-mostSkewMs, mostSkewMs);
    const worker = new Worker(this.#file, {
      workerData: { id, name, ...options, skewMs, aheadMs: this.#aheadMs },
      env: { ...process.env },
    });
    const thread: Thread = { id, worker, open: new Map(), isReady: false };
    worker.on('message', (message: unknown) => {
      const told = fromThread.parse(message);
      thread.isReady = true;
      if (told.kind === 'measured') {
        thread.onMeasured?.(told.measure);
        return;
      }
      const invocation = thread.open.get(told.number);
      thread.open.delete(told.number);
      if (told.error === undefined) invocation?.resolve(told.result);
      else invocation?.reject(new Error(told.error));
    });
    // A function that ends itself has a fault. As on AWS, the next invocation starts it again.
    worker.on('error', (error) => {
      console.error(
        JSON.stringify({ level: 'ERROR', message: `The function ${name} crashed`, error: String(error) }),
      );
    });
    worker.on('exit', () => {
      this.#forget(name, thread);
    });
    return thread;
  }

  #end(name: FunctionName, thread: Thread): void {
    this.#forget(name, thread);
    void thread.worker.terminate();
  }

  #forget(name: FunctionName, thread: Thread): void {
    this.#threads.set(
      name,
      (this.#threads.get(name) ?? []).filter((one) => one !== thread),
    );
    for (const { reject } of thread.open.values())
      reject(new ProcessDied('The process of the function died.'));
    thread.open.clear();
    thread.onMeasured?.(undefined);
  }
}
