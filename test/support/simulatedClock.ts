import { Heap, type Placed } from '../../local/heap.ts';

/** A clock that jumps to the next event, and random numbers from a seed, so that a run can be repeated. */

/** Makes a generator of random numbers from 0 to 1 (mulberry32). */
export function randomOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

interface Due extends Placed {
  readonly at: number;
  readonly order: number;
  readonly run: () => void;
}

async function settlePromises(): Promise<void> {
  for (let turn = 0; turn < 40; turn += 1) await Promise.resolve();
}

export class Clock {
  now = 1_700_000_000_000;
  #order = 0;
  readonly #due = new Heap<Due>((one, other) =>
    one.at === other.at ? one.order < other.order : one.at < other.at,
  );

  get nextAt(): number | undefined {
    return this.#due.first?.at;
  }

  at(time: number, run: () => void): void {
    this.#order += 1;
    this.#due.add({ at: Math.max(time, this.now), order: this.#order, run, place: -1 });
  }

  sleep = (ms: number): Promise<void> =>
    new Promise((resolve) => {
      this.at(this.now + ms, resolve);
    });

  /**
   * Lets time pass until no event is left.
   *
   * @param settle waits for an event's consequences. Default: several levels of promises
   */
  async run(most = 1_000_000, settle: () => Promise<void> = settlePromises): Promise<void> {
    for (let steps = 0; ; steps += 1) {
      await settle();
      const next = this.#due.first;
      if (next === undefined) return;
      if (steps > most) throw new Error('The simulation does not come to an end.');
      this.#due.remove(next);
      this.now = next.at;
      next.run();
    }
  }
}
