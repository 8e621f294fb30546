/** Splits items into lists of a size, in their order; the last may be shorter. */
export const chunksOf = <T>(items: readonly T[], size: number): readonly (readonly T[])[] =>
  Array.from({ length: Math.ceil(items.length / size) }, (_, index) =>
    items.slice(index * size, (index + 1) * size),
  );

/** Splits items into lists of at most a weight, in their order; an item that is heavier than that is alone. */
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

/** The longest that work goes on before it lets other requests of the process go on, in milliseconds. */
const turnMs = 10;
/** The longest pause between two turns, in milliseconds. */
const longestPauseMs = 100;

/** What the shortest pause takes by itself, in milliseconds. */
const leastMs = 2;

/** Of browsers as well as of Node.js: the console works on lists, too. */
const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/**
 * The turns of long work that waits for nothing. On Lambda a process has one request, and turns cost nothing; on one machine all
 * requests share a process.
 */
export class Turn {
  #endsAt = performance.now() + turnMs;

  /**
   * Lets others go on where the turn is over. Where they took their time, it leaves them as much once more: long work of several
   * requests together then takes half of the process.
   */
  async end(): Promise<void> {
    const since = performance.now();
    if (since < this.#endsAt) return;
    await sleep(0);
    const tookMs = performance.now() - since;
    if (tookMs > leastMs) await sleep(Math.min(tookMs, longestPauseMs));
    this.#endsAt = performance.now() + turnMs;
  }
}

/**
 * Works on all items, `atOnce` at a time. An error ends one of the workers; the others go on with the items that are left. Where the
 * work waits for nothing, other requests of the process go on now and then all the same.
 *
 * @throws the first worker's error, when all have ended
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
      // Before an item is taken: so their work begins in their order.
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

/** Reads all items into a list. */
export async function listOf<T>(items: AsyncIterable<T>): Promise<readonly T[]> {
  const list: T[] = [];
  for await (const item of items) list.push(item);
  return list;
}
