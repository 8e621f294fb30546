/** Opens the store of a data directory, and creates it at the first start. */
import { randomUUID } from 'node:crypto';
import { renameSync, rmSync, statSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import * as z from 'zod/mini';
import { flushFolder } from '../durable.ts';
import { jsonOrUndefined } from '../json.ts';
import { StageError } from '../stage/stageError.ts';
import { checkPages, type CheckOptions } from './pages.ts';
import { Store } from './store.ts';

const format = 1;
const about = z.object({
  format: z.literal(format),
  /** Whether a stage has used the store. Then it has data, and the secrets belong to it. */
  isUsed: z.boolean(),
  /** Distinguishes this store from others. */
  id: z.optional(z.string()),
  /** When a process of the stage was first and last killed after the last search for lost messages. */
  killedAt: z.optional(z.number()),
  lastKilledAt: z.optional(z.number()),
});
type About = Readonly<z.infer<typeof about>>;
const aboutKey = Buffer.from('a');

function aboutOf(store: Store): About {
  const text = store.get(aboutKey)?.toString();
  const read = text === undefined ? undefined : about.safeParse(jsonOrUndefined(text)).data;
  if (read === undefined) throw new StageError('The store was made by a later release of the service.');
  return read;
}

/** The store's id; empty if an earlier release made it. @throws StageError if a later release made it */
export const idOf = (store: Store): string => aboutOf(store).id ?? '';

interface Kills {
  readonly first: number;
  readonly last: number;
}

export function killsOf(store: Store): Kills | undefined {
  store.refresh();
  // A store in memory has no description.
  if (store.get(aboutKey) === undefined) return undefined;
  const { killedAt, lastKilledAt = killedAt } = aboutOf(store);
  return killedAt === undefined || lastKilledAt === undefined
    ? undefined
    : { first: killedAt, last: lastKilledAt };
}

/** Records that a process was killed. If that interrupted a publish, a message may have no job. */
export function noteKill(store: Store, at: number): Promise<void> {
  return store.change((write) => {
    const about = aboutOf(store);
    write(aboutKey, aboutBytes({ ...about, killedAt: about.killedAt ?? at, lastKilledAt: at }));
  });
}

/** Records that the jobs of such messages were sent, unless another process was killed after `last`. */
export function endKills(store: Store, last: number): Promise<void> {
  return store.change((write) => {
    const { killedAt, lastKilledAt = killedAt, ...others } = aboutOf(store);
    if (lastKilledAt === last) write(aboutKey, aboutBytes(others));
  });
}

interface OpenStore {
  readonly store: Store;
  /** Whether no stage has used the store yet. */
  readonly isNew: boolean;
}

/**
 * @param isExpected whether the directory was used before, so that the store must exist
 * @throws StageError if the store is missing, incomplete or damaged
 */
export async function openStore(
  file: string,
  isExpected: boolean,
  options?: CheckOptions,
): Promise<OpenStore> {
  const there = statSync(file, { throwIfNoEntry: false });
  if (there === undefined || there.size === 0) {
    if (isExpected || there !== undefined) throw lost(file, there === undefined ? 'is missing' : 'is empty');
    await make(file);
  }
  const damage = await checkPages(file, options);
  if (damage !== undefined) throw lost(file, `is damaged (${damage})`);
  return joinStore(file);
}

/**
 * Opens a store that another process has checked.
 *
 * @throws StageError if a later release made it
 */
export async function joinStore(file: string): Promise<OpenStore> {
  const store = new Store(file);
  try {
    return { store, isNew: !aboutOf(store).isUsed };
  } catch (error) {
    await store.close();
    throw error;
  }
}

export function markUsed(store: Store): Promise<void> {
  return store.change((write) => {
    write(aboutKey, aboutBytes({ ...aboutOf(store), isUsed: true, id: randomUUID() }));
  });
}

const aboutBytes = (described: Omit<About, 'format'>): Buffer =>
  Buffer.from(JSON.stringify({ ...described, format }));

/** Creates a store that has only its description. The file gets its name when it is complete. */
async function make(file: string): Promise<void> {
  const unfinished = `${file}.new`;
  for (const name of [unfinished, `${unfinished}-lock`]) rmSync(name, { force: true });
  const store = new Store(unfinished);
  store.write(aboutKey, aboutBytes({ isUsed: false }));
  await store.committed();
  await store.close();
  renameSync(unfinished, file);
  rmSync(`${unfinished}-lock`, { force: true });
  flushFolder(dirname(file));
}

/** The store or a part of its data is missing. */
export class LostError extends StageError {}

export const lost = (file: string, state: string): LostError =>
  new LostError(
    `${basename(file)} in ${dirname(file)} ${state}: the messages are in it. Move the folder away, and restore the last backup: svc-queue restore.`,
  );
