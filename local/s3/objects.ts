/**
 * Objects of the S3 stand-in: a description, then the bytes in parts, because the store finds space for small
 * entries more easily.
 *
 * A key begins with the object's lifetime, `<days>d/`. `expire` deletes older objects, like the bucket's
 * lifecycle rules on AWS.
 */
import * as z from 'zod/mini';
import { jsonOrUndefined } from '../json.ts';
import type { Snapshot, Store, Write } from '../store/store.ts';

export interface StoredObject {
  readonly body: Buffer;
  readonly contentType: string;
  readonly modifiedAt: number;
}

export interface Objects {
  put(key: string, object: StoredObject): Promise<void>;
  /** @param at the snapshot to read */
  get(key: string, at?: Snapshot): StoredObject | undefined;
  delete(key: string): Promise<void>;
  /** Writes or deletes an object as part of a transaction. */
  change(write: Write, key: string, object: StoredObject | undefined): void;
  expire(): Promise<void>;
}

const partBytes = 65_536;
const dayMs = 86_400_000;

const about = z.object({
  contentType: z.string(),
  modifiedAt: z.number(),
  parts: z.number(),
});

/** The keys of all objects begin with `first`. `behind` is the next byte. */
const first = 'o';
const behind = 'p';

/** @param part 0 for the description */
function entryKey(key: string, part: number): Buffer {
  const number = Buffer.alloc(3);
  number.writeUInt16BE(part, 1);
  return Buffer.concat([Buffer.from(`${first}${key}`), number]);
}

export function objectsIn(store: Store, now: () => number): Objects {
  const aboutOf = (key: string, at?: Snapshot): z.infer<typeof about> | undefined =>
    about.safeParse(jsonOrUndefined(store.get(entryKey(key, 0), at)?.toString() ?? '')).data;
  const changeIn = (write: Write, key: string, object: StoredObject | undefined): void => {
    const parts = Math.ceil((object?.body.length ?? 0) / partBytes);
    for (let part = parts + 1; part <= (aboutOf(key)?.parts ?? 0); part += 1) {
      write(entryKey(key, part), undefined);
    }
    if (object === undefined) write(entryKey(key, 0), undefined);
    else for (const [name, value] of entriesOf(key, object)) write(name, value);
  };
  const change = (key: string, object: StoredObject | undefined): Promise<void> =>
    store.change((write) => {
      changeIn(write, key, object);
    });
  return {
    put: change,
    change: changeIn,
    get: (key, at) => {
      if (at === undefined) store.refresh();
      const found = aboutOf(key, at);
      if (found === undefined) return undefined;
      const parts: Buffer[] = [];
      for (let part = 1; part <= found.parts; part += 1) {
        const bytes = store.get(entryKey(key, part), at);
        // The object was deleted while it was read.
        if (bytes === undefined) return undefined;
        parts.push(bytes);
      }
      return { ...found, body: Buffer.concat(parts) };
    },
    delete: (key) => change(key, undefined),
    expire: async () => {
      const past = [...objectKeys(store)].filter((key) => {
        const days = Number(/^(\d+)d\//.exec(key)?.[1] ?? Infinity);
        const found = aboutOf(key);
        return found !== undefined && now() - found.modifiedAt > days * dayMs;
      });
      for (const key of past) await change(key, undefined);
    },
  };
}

function* entriesOf(key: string, { body, ...object }: StoredObject): Generator<readonly [Buffer, Buffer]> {
  const parts = Math.ceil(body.length / partBytes);
  yield [entryKey(key, 0), Buffer.from(JSON.stringify({ ...object, parts }))];
  for (let part = 1; part <= parts; part += 1) {
    yield [entryKey(key, part), body.subarray((part - 1) * partBytes, part * partBytes)];
  }
}

/** @param at the snapshot to read */
export function* objectKeys(store: Store, at?: Snapshot): Generator<string> {
  for (const key of store.keys({ from: Buffer.from(first), to: Buffer.from(behind), at })) {
    if (key.readUInt16BE(key.length - 2) === 0) yield key.toString('utf8', first.length, key.length - 3);
  }
}
