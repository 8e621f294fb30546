/** Random decisions from a seed. Each kind of decision has a separate stream, independent of the others' timing. */
import { randomOf } from '../support/simulatedClock.ts';

export class Chance {
  readonly #next: () => number;

  /** @param name of the decision; the same seed and name give the same stream */
  constructor(seed: number, name: string) {
    let hash = seed >>> 0;
    for (const character of name) hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 0x01000193) >>> 0;
    this.#next = randomOf(hash);
  }

  is(probability: number): boolean {
    return this.#next() < probability;
  }

  /** A whole number from `least` to `most`, both included. */
  from(least: number, most: number): number {
    return least + Math.floor(this.#next() * (most - least + 1));
  }

  of<T>(list: readonly T[]): T {
    const chosen = list[this.from(0, list.length - 1)];
    if (chosen === undefined) throw new Error('There is nothing to choose from.');
    return chosen;
  }

  /** @param weights relative frequencies */
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

/** Streams by name, created on demand. */
export function streamsOf(seed: number): (name: string) => Chance {
  const streams = new Map<string, Chance>();
  return (name) => {
    const known = streams.get(name) ?? new Chance(seed, name);
    streams.set(name, known);
    return known;
  };
}
