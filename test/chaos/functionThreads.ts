/** Lambda with a thread for each process of a function. A thread that dies fails the invocations that it worked on. */
import { Worker } from 'node:worker_threads';
import type { FunctionName } from '../../local/lambda/handlers.ts';
import type { FunctionOptions, LambdaFunction } from '../../local/lambda/lambda.ts';
import type { Chance } from './chance.ts';
import { fromThread, type ToThread } from './threadMessages.ts';

/** So many processes a function has at most; the others have one. AWS gives each invocation its own, which is more than a test machine has. */
const mostThreads: Partial<Record<FunctionName, number>> = { deliver: 3, deliverAlone: 2, publish: 2 };

/** The clocks of two processes differ by less than 5 s (`clockMarginMs`). */
const mostSkewMs = 2_000;

interface Invocation {
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: Error) => void;
}

interface Thread {
  readonly id: string;
  readonly worker: Worker;
  readonly open: Map<number, Invocation>;
  /** It has answered before: one that still starts would hold up a measure. */
  isReady: boolean;
  onMeasured?: (heapMb: number) => void;
}

const tell = ({ worker }: Thread, message: ToThread): void => {
  worker.postMessage(message);
};

/** An invocation that was cut off. It is no error of the stage. */
export class ProcessDied extends Error {}

export class FunctionThreads {
  readonly #file: string;
  readonly #aheadMs: BigInt64Array;
  /** Streams by what is decided. */
  readonly #chance: (name: string) => Chance;
  readonly #threads = new Map<FunctionName, Thread[]>();
  /** Probability that an invocation by a queue is made twice, as SQS may deliver twice. */
  readonly #twice: () => number;
  #numbers = 0;

  constructor(options: {
    /** The bundle of `functionThread.ts`. */
    readonly file: string;
    /** Milliseconds by which the clock is ahead of the true time. */
    readonly aheadMs: BigInt64Array;
    readonly chance: (name: string) => Chance;
    readonly twice: () => number;
  }) {
    this.#file = options.file;
    this.#aheadMs = options.aheadMs;
    this.#chance = options.chance;
    this.#twice = options.twice;
  }

  load = (name: FunctionName, options: FunctionOptions): Promise<LambdaFunction> =>
    Promise.resolve({
      name,
      invoke: (event) => {
        const isByQueue = typeof event === 'object' && event !== null && 'Records' in event;
        if (isByQueue && this.#chance(`twice ${name}`).is(this.#twice())) {
          // The answer to one of the two is lost.
          this.#invoke(name, options, event).catch(() => undefined);
        }
        return this.#invoke(name, options, event);
      },
    });

  get size(): number {
    return [...this.#threads.values()].flat().length;
  }

  /** The largest heap of a thread, in MB, after a collection of garbage. */
  async largestHeapMb(): Promise<number> {
    const ready = [...this.#threads.values()].flat().filter(({ isReady }) => isReady);
    const heaps = ready.map(
      (thread) =>
        new Promise<number>((resolve) => {
          thread.onMeasured = resolve;
          tell(thread, { kind: 'measure' });
        }),
    );
    return Math.max(0, ...(await Promise.all(heaps)));
  }

  kill(id: string): void {
    for (const [name, threads] of this.#threads) {
      for (const thread of threads) if (thread.id === id) this.#end(name, thread);
    }
  }

  /** Kills one of those that have work. */
  killAny(): string | undefined {
    const busy = [...this.#threads].flatMap(([name, threads]) =>
      threads.filter(({ open }) => open.size > 0).map((thread) => ({ name, thread })),
    );
    if (busy.length === 0) return undefined;
    const { name, thread } = this.#chance('killed').of(busy);
    this.#end(name, thread);
    return name;
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

  /** The thread with the least to do, or a new one while there may be more. */
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
        thread.onMeasured?.(told.heapMb);
        return;
      }
      const invocation = thread.open.get(told.number);
      thread.open.delete(told.number);
      if (told.error === undefined) invocation?.resolve(told.result);
      else invocation?.reject(new Error(told.error));
    });
    // A function that ends by itself has a fault: AWS would start it anew, and so does the next invocation.
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
    // It keeps nothing.
    thread.onMeasured?.(0);
  }
}
