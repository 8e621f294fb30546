/** Splits items into lists of a size. The last list may be shorter. */
export const chunksOf = <T>(items: readonly T[], size: number): readonly (readonly T[])[] =>
  Array.from({ length: Math.ceil(items.length / size) }, (_, index) =>
    items.slice(index * size, (index + 1) * size),
  );

/** Splits items into lists of at most a weight. A heavier item is alone. */
export function weighedChunksOf<T>(
  items: readonly T[],
  most: number,
  weightOf: (item: T) => number,
): readonly (readonly T[])[] {
  const chunks: T[][] = [];
  let capacity = 0;
  for (const item of items) {
    const weight = weightOf(item);
    const last = chunks.at(-1);
    if (last === undefined || weight > capacity) {
      chunks.push([item]);
      capacity = most - weight;
    } else {
      last.push(item);
      capacity -= weight;
    }
  }
  return chunks;
}

/** Milliseconds. If a step takes longer, the next one is smaller, so that the last one ends in time. */
const longestStepMs = 2_000;

export const nextSize = (size: number, tookMs: number, most = Infinity): number =>
  tookMs > longestStepMs ? Math.ceil(size / 4) : Math.min(2 * size, most);

/** How long work runs before other requests of the process get a turn (ms). */
const turnMs = 10;
/** Milliseconds. */
const longestPauseMs = 100;

/** The shortest pause (ms). */
const leastMs = 2;

/** Not from `node:timers`, because the console uses this file. */
const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/**
 * Interrupts long computations, because all requests of one machine share a process. On Lambda this costs
 * nothing: a process has one request.
 */
export class Turn {
  readonly #workedMs: () => number;
  #endsAt = performance.now() + turnMs;

  /**
   * @param workedMs measures how long this process has worked, in milliseconds; by default including waits
   * for the CPU
   */
  constructor(workedMs = (): number => performance.now()) {
    this.#workedMs = workedMs;
  }

  /**
   * If the turn is over, lets others work, and pauses again for as long as they took. So concurrent long
   * computations take half of the process.
   */
  async end(): Promise<void> {
    if (performance.now() < this.#endsAt) return;
    const workedMs = this.#workedMs();
    await sleep(0);
    const tookMs = this.#workedMs() - workedMs;
    if (tookMs > leastMs) await sleep(Math.min(tookMs, longestPauseMs));
    this.#endsAt = performance.now() + turnMs;
  }
}

/**
 * Works on all items, `atOnce` in parallel. After an error the other workers continue with the remaining
 * items. Other requests of the process get turns.
 *
 * @throws the first worker's error, after all have ended
 */
export async function eachOf<T>(
  items: readonly T[],
  atOnce: number,
  work: (item: T, index: number) => Promise<void> | void,
): Promise<void> {
  const left = items.entries();
  const turn = new Turn();
  const worker = async (): Promise<void> => {
    for (;;) {
      // Awaited before an item is taken, so that items start in order.
      await turn.end();
      const next = left.next();
      if (next.done === true) return;
      const [index, item] = next.value;
      await work(item, index);
    }
  };
  const workers = Array.from({ length: Math.min(atOnce, items.length) }, worker);
  for (const outcome of await Promise.allSettled(workers))
    if (outcome.status === 'rejected') throw outcome.reason;
}

export async function listOf<T>(items: AsyncIterable<T>): Promise<readonly T[]> {
  const list: T[] = [];
  for await (const item of items) list.push(item);
  return list;
}
