/** Groups of writes for a store. A group is written in one turn of the event loop, so it is one transaction. */
import { randomOf } from '../simulatedClock.ts';
import type { Model } from '../store/contents.ts';

interface Write {
  readonly key: Buffer;
  readonly value: Buffer | undefined;
}

export const lastKey = Buffer.from('last');

/** Makes a group: new entries, entries for keys that all groups have, and deletions. */
export function groupOf(seed: number, number: number): readonly Write[] {
  const random = randomOf(seed * 1_000_003 + number);
  const below = (end: number): number => Math.floor(random() * end);
  const bytes = (): Buffer =>
    Buffer.alloc(below(random() < 0.05 ? 65_536 : 400), `${seed} ${number} ${random()} `);
  const own = Array.from({ length: 1 + below(6) }, (_, at) => ({
    key: Buffer.from(`own ${number} ${at}`),
    value: bytes(),
  }));
  const shared = Array.from({ length: below(4) }, () => ({
    key: Buffer.from(`shared ${below(50)}`),
    value: bytes(),
  }));
  const deleted = Array.from({ length: below(5) }, () => ({
    key: Buffer.from(`own ${number - 1 - below(60)} ${below(6)}`),
    value: undefined,
  }));
  return [{ key: lastKey, value: Buffer.from(String(number)) }, ...own, ...shared, ...deleted];
}

export function applyGroup(model: Model, seed: number, number: number): void {
  for (const { key, value } of groupOf(seed, number)) {
    if (value === undefined) model.delete(key.toString('latin1'));
    else model.set(key.toString('latin1'), value);
  }
}
