/** The objects of the S3 stand-in, in memory or in a folder. */
import { mkdir, readFile, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { randomUUID } from 'node:crypto';
import * as z from 'zod/mini';
import { createFile } from '../durable.ts';
import { isSystemError } from '../stage/stageError.ts';

export interface StoredObject {
  readonly body: Buffer;
  readonly contentType: string;
  /** Epoch milliseconds. */
  readonly modifiedAt: number;
}

export interface Objects {
  put(key: string, object: StoredObject): Promise<void>;
  get(key: string): Promise<StoredObject | undefined>;
  delete(key: string): Promise<void>;
}

/** Objects of a folder. */
export interface KeptObjects extends Objects {
  /** Deletes the objects that are past their time. */
  readonly expire: () => Promise<void>;
  /** Deletes no object's file until the returned function is called. */
  readonly holdDeletes: () => () => Promise<void>;
}

export function objectsInMemory(): Objects {
  const objects = new Map<string, StoredObject>();
  return {
    put: (key, object) => {
      objects.set(key, object);
      return Promise.resolve();
    },
    get: (key) => Promise.resolve(objects.get(key)),
    delete: (key) => {
      objects.delete(key);
      return Promise.resolve();
    },
  };
}

const head = z.object({ contentType: z.string(), modifiedAt: z.number() });

/**
 * Keeps each object in a file: a line of JSON about it, then its bytes. A file is written whole or not at all.
 *
 * A key begins with the object's age class, `<days>d/`. Older objects are deleted when the folder is opened, and by `expire`; in AWS
 * the bucket's lifecycle rules do that.
 */
export async function objectsIn(folder: string, now: () => number): Promise<KeptObjects> {
  await mkdir(folder, { recursive: true });
  await expire(folder, now(), -Infinity);
  /** Deletions that wait; undefined while none has to. */
  let deferred: Set<string> | undefined;
  const path = (key: string): string => join(folder, `${encodeURIComponent(key)}${suffix}`);
  return {
    put: async (key, { body, ...about }) => {
      deferred?.delete(key);
      const temporary = join(folder, `${randomUUID()}.new`);
      await createFile(
        path(key),
        temporary,
        Buffer.concat([Buffer.from(`${JSON.stringify(about)}\n`), body]),
      );
    },
    get: async (key) => {
      const bytes = await readFile(path(key)).catch(orUndefined);
      if (bytes === undefined) return undefined;
      const lineEnd = bytes.indexOf('\n');
      const about: unknown = JSON.parse(bytes.toString('utf8', 0, lineEnd));
      return { ...head.parse(about), body: bytes.subarray(lineEnd + 1) };
    },
    delete: async (key) => {
      if (deferred === undefined) await rm(path(key), { force: true });
      else deferred.add(key);
    },
    expire: async () => {
      if (deferred === undefined) await expire(folder, now(), unfinishedMs);
    },
    holdDeletes: () => {
      const waiting = new Set<string>();
      deferred = waiting;
      return async () => {
        deferred = undefined;
        await Promise.all([...waiting].map((key) => rm(path(key), { force: true })));
      };
    },
  };
}

const suffix = '.object';
const dayMs = 86_400_000;
/** A write takes less. */
const unfinishedMs = 60_000;

async function expire(folder: string, nowMs: number, leftAfterMs: number): Promise<void> {
  for (const name of await readdir(folder)) {
    const days = Number(/^(\d+)d%2F/.exec(name)?.[1] ?? Infinity);
    const found = await stat(join(folder, name)).catch(orUndefined);
    // It was deleted meanwhile.
    if (found === undefined) continue;
    const { mtimeMs } = found;
    // A temporary file is left by a write that a kill has interrupted.
    const ageMs = nowMs - mtimeMs;
    if (ageMs > days * dayMs || (name.endsWith('.new') && ageMs >= leftAfterMs)) {
      await rm(join(folder, name), { force: true });
    }
  }
}

function orUndefined(error: unknown): undefined {
  if (!isSystemError(error, 'ENOENT')) throw error;
}
