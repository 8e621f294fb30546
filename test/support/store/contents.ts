/** Digests of a store's contents. */
import { createHash } from 'node:crypto';
import { Store, type Entry } from '../../../local/store/store.ts';

/** The range of tests' keys. */
export const everything = { from: Buffer.from([0x40]), to: Buffer.from([0xff]) };

/** Digests entries, which must be in key order. */
export function digestOf(entries: Iterable<Entry>): string {
  const hash = createHash('sha256');
  for (const { key, value } of entries) {
    hash.update(`${key.length} ${value.length} `).update(key).update(value);
  }
  return hash.digest('hex');
}

/** The expected entries, by key in Latin-1. */
export type Model = Map<string, Buffer>;

export function digestOfModel(model: Model): string {
  const entries = [...model].map(([key, value]) => ({ key: Buffer.from(key, 'latin1'), value }));
  return digestOf(entries.toSorted((one, other) => Buffer.compare(one.key, other.key)));
}

/**
 * Reads a whole store in both directions, and then writes to it.
 *
 * @returns the digest of its contents
 * @throws Error if it is inconsistent, or has other contents than were last written
 */
export async function useStore(file: string): Promise<string> {
  const store = new Store(file);
  try {
    const entries = [...store.range(everything)];
    const digest = digestOf(entries);
    for (const { key, value } of entries) {
      if (store.get(key)?.equals(value) !== true)
        throw new Error('A key has another value than in its range.');
    }
    const model: Model = new Map(entries.map(({ key, value }) => [key.toString('latin1'), value]));
    for (let round = 0; round < 2; round += 1) {
      for (const [index, { key }] of entries.entries()) {
        if (index % 7 === round) write(store, model, key, undefined);
        else if (index % 5 === round)
          write(store, model, key, Buffer.alloc(index % 50 === 0 ? 9_000 : index % 300, round));
      }
      await store.committed();
    }
    if (digestOf(store.range(everything)) !== digestOfModel(model))
      throw new Error('What was written is not there.');
    return digest;
  } finally {
    await store.close();
  }
}

/** Writes an entry to a store and its model. */
export function write(store: Store, model: Model, key: Buffer, value: Buffer | undefined): void {
  store.write(key, value);
  if (value === undefined) model.delete(key.toString('latin1'));
  else model.set(key.toString('latin1'), value);
}
