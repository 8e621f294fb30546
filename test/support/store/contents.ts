/** The contents of a store, in short. */
import { createHash } from 'node:crypto';
import { Store, type Entry } from '../../../local/store/store.ts';

/** Keys of tests are within these. */
export const everything = { from: Buffer.from([0x40]), to: Buffer.from([0xff]) };

/** Digests entries, which must be in the order of their keys. */
export function digestOf(entries: Iterable<Entry>): string {
  const hash = createHash('sha256');
  for (const { key, value } of entries) {
    hash.update(`${key.length} ${value.length} `).update(key).update(value);
  }
  return hash.digest('hex');
}

/** Entries as they should be, by their keys in Latin-1. */
export type Model = Map<string, Buffer>;

export function digestOfModel(model: Model): string {
  const entries = [...model].map(([key, value]) => ({ key: Buffer.from(key, 'latin1'), value }));
  return digestOf(entries.toSorted((one, other) => Buffer.compare(one.key, other.key)));
}

/**
 * Reads all of a store, in both ways, then goes on writing in it.
 *
 * @returns the digest of what was there
 * @throws Error when it differs from itself, or has other contents than were written at last
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

/** Writes an entry in a store, and in its model. */
export function write(store: Store, model: Model, key: Buffer, value: Buffer | undefined): void {
  store.write(key, value);
  if (value === undefined) model.delete(key.toString('latin1'));
  else model.set(key.toString('latin1'), value);
}
