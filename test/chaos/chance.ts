/** Chance that a seed decides on. Each thing that is decided has a stream of its own, so that it depends on no other's timing. */
import { randomOf } from '../support/simulatedClock.ts';

export class Chance {
  readonly #next: () => number;

  /** @param name of what is decided; each name has the same stream again with the same seed */
  constructor(seed: number, name: string) {
    let hash = seed >>> 0;
    for (const character of name) hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 0x01000193) >>> 0;
    this.#next = randomOf(hash);
  }

  is(probability: number): boolean {
    return this.#next() < probability;
  }

  /** A whole number; both ends are possible. */
  from(least: number, most: number): number {
    return least + Math.floor(this.#next() * (most - least + 1));
  }

  of<T>(list: readonly T[]): T {
    const chosen = list[this.from(0, list.length - 1)];
    if (chosen === undefined) throw new Error('There is nothing to choose from.');
    return chosen;
  }

  /** @param weights how often each is chosen, in relation to the others */
  weighted<T extends string>(weights: Readonly<Record<T, number>>): T {
    const pairs = Object.entries<number>(weights) as [T, number][];
    let left = this.#next() * pairs.reduce((sum, [, weight]) => sum + weight, 0);
    for (const [name, weight] of pairs) {
      left -= weight;
      if (left < 0) return name;
    }
    return this.of(pairs.map(([name]) => name));
  }
}

/** Streams by name, each made when it is first asked for. */
export function streamsOf(seed: number): (name: string) => Chance {
  const streams = new Map<string, Chance>();
  return (name) => {
    const known = streams.get(name) ?? new Chance(seed, name);
    streams.set(name, known);
    return known;
  };
}
