/**
 * The data directory, which keeps the store and the secrets between runs of a stage. A lock ensures that only
 * one stage uses it.
 */
import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import * as z from 'zod/mini';
import {
  following,
  masterSecretName,
  needed,
  restoring,
  restoringAccount,
  storeName,
} from '../backup/files.ts';
import { refusalOf } from '../backup/before/folder.ts';
import { replaceFile } from '../durable.ts';
import { jsonOrUndefined } from '../json.ts';
import { joinStore, markUsed, noteKill, openStore } from '../store/openStore.ts';
import type { CheckOptions } from '../store/pages.ts';
import type { Store } from '../store/store.ts';
import { identify, isRunning, processIdentity } from './processes.ts';
import { StageError, isSystemError } from './stageError.ts';

export interface DataDirectory {
  readonly folder: string;
  readonly store: Store;
  /** Whether no stage has used the directory yet. */
  readonly isNew: boolean;
  /**
   * A random text that the directory's first stage made.
   *
   * @throws StageError if it is missing although the directory was used before
   */
  secret(name: string): string;
  /** Marks the directory as used. Must be called when the secrets exist. */
  readonly begin: () => Promise<void>;
  /** Writes a file, completely or not at all. Only its owner can read it. */
  write(name: string, text: string): void;
  readonly remove: (name: string) => void;
  /** Closes the store, and keeps the lock. */
  readonly close: () => Promise<void>;
  /** Records the other processes that use the directory. The lock is held until they have ended, too. */
  readonly share: (pids: readonly number[]) => void;
  readonly release: () => Promise<void>;
}

/** A running stage uses the directory. */
export class InUseError extends StageError {}

/**
 * @param options for checking the store's pages
 * @throws StageError if a running stage uses the directory, it cannot be written, or its data is incomplete
 */
export async function openDataDirectory(path: string, options?: CheckOptions): Promise<DataDirectory> {
  const folder = resolve(path);
  const inFolder = (name: string): string => join(folder, name);
  const { wasKilled, unlock } = await lockDataDirectory(folder);
  try {
    const refusal = await refusalOf(folder);
    if (refusal !== undefined) throw new StageError(refusal);
    if ([restoring, following].some((name) => existsSync(inFolder(name)))) {
      throw new StageError(`A restore into ${folder} was interrupted: run svc-queue restore again.`);
    }
    // A killed command may have left this folder.
    rmSync(inFolder(restoringAccount), { recursive: true, force: true });
    for (const name of [...needed, 'env']) {
      // A folder that was copied may let others read its files.
      if (existsSync(inFolder(name))) protect(inFolder(name));
    }
    // The master secret is written last, after the others, which the operator may have written.
    const isExpected = existsSync(inFolder(masterSecretName));
    const changedAt = statSync(inFolder(storeName), { throwIfNoEntry: false })?.mtimeMs;
    const { store, isNew } = await openStore(inFolder(storeName), isExpected, options);
    if (wasKilled && changedAt !== undefined) {
      await noteKill(store, changedAt).catch(async (error: unknown) => {
        await store.close();
        throw error;
      });
    }
    return {
      ...filesOf(folder, store, isNew),
      release: async () => {
        await store.close();
        unlock();
      },
    };
  } catch (error) {
    unlock();
    throw error;
  }
}

/**
 * Creates a directory if necessary, and locks it.
 *
 * @throws StageError if it cannot be written, or another process has locked it
 */
export async function lockDataDirectory(
  folder: string,
): Promise<{ readonly wasKilled: boolean; readonly unlock: () => void }> {
  const file = join(folder, lockName);
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const wasKilled = await lock(file, folder);
    return {
      wasKilled,
      unlock: () => {
        rmSync(file, { force: true });
      },
    };
  } catch (error) {
    if (error instanceof StageError || !(error instanceof Error)) throw error;
    throw new StageError(`The data directory ${folder} cannot be used: ${error.message}`, { cause: error });
  }
}

/**
 * Uses a directory that another process of the stage has opened.
 *
 * @throws StageError if a later release made the store
 */
export async function joinDataDirectory(path: string): Promise<DataDirectory> {
  const folder = resolve(path);
  const { store, isNew } = await joinStore(join(folder, storeName));
  return filesOf(folder, store, isNew);
}

function filesOf(folder: string, store: Store, isNew: boolean): DataDirectory {
  const inFolder = (name: string): string => join(folder, name);
  const write = (name: string, text: string): void => {
    replaceFile(inFolder(name), Buffer.from(text));
  };
  const close = (): Promise<void> => store.close();
  return {
    folder,
    store,
    isNew,
    begin: () => (isNew ? markUsed(store) : Promise.resolve()),
    write,
    secret: (name) => {
      if (existsSync(inFolder(name))) return readFileSync(inFolder(name), 'utf8');
      if (!isNew) {
        throw new StageError(
          `The data directory ${folder} has data, but no ${name}: restore the file from a backup. Without it no token and no signing key is good.`,
        );
      }
      write(name, randomSecret());
      return readFileSync(inFolder(name), 'utf8');
    },
    remove: (name) => {
      rmSync(inFolder(name), { force: true });
    },
    share: (pids) => {
      const shared = pids.flatMap((pid) => identify(pid) ?? []);
      write(lockName, JSON.stringify({ stage: identify(process.pid), shared } satisfies Holder));
    },
    close,
    release: close,
  };
}

/**
 * Makes a file readable only for its owner.
 *
 * @throws StageError if this process does not run as the owner
 */
function protect(path: string): void {
  try {
    chmodSync(path, 0o600);
  } catch (error) {
    if (!isSystemError(error, 'EPERM')) throw error;
    throw new StageError(
      `${path} belongs to another user: give the data directory to the user that runs the service.`,
      {
        cause: error,
      },
    );
  }
}

/** 256 random bits. */
export function randomSecret(): string {
  return randomBytes(32).toString('base64url');
}

/** The length of generated secrets, which have 256 random bits. */
const leastCharacters = 43;
/** Only one in 10^12 random texts of 43 characters has fewer different characters. */
const leastDifferent = 16;

/**
 * Checks the secrets of a stage that other machines can reach.
 *
 * @throws StageError if an operator has replaced a secret with one that can be guessed
 */
export function checkStrength(secrets: Readonly<Record<string, string>>): void {
  for (const [name, secret] of Object.entries(secrets)) {
    if (secret.length >= leastCharacters && new Set(secret).size >= leastDifferent) continue;
    throw new StageError(
      `The secret ${name} in the data directory can be guessed: with --host or --public-url it must have at least ` +
        `${leastCharacters} random characters, as the one that the stage generates.`,
    );
  }
}

const lockName = 'lock';
const holder = z.object({
  stage: z.optional(processIdentity),
  /** Other processes of the stage. They end when the first has ended. */
  shared: z._default(z.array(processIdentity), []),
});
type Holder = z.infer<typeof holder>;

/** @returns whether the last process that held the lock was killed */
async function lock(file: string, folder: string): Promise<boolean> {
  for (let wasKilled = false; ; wasKilled = true) {
    try {
      writeFileSync(file, JSON.stringify({ stage: identify(process.pid) }), { flag: 'wx', mode: 0o600 });
      return wasKilled;
    } catch (error) {
      if (!isSystemError(error, 'EEXIST')) throw error;
    }
    await removeStale(file, folder);
  }
}

/** How long the other processes of a killed stage may take to end, and how often that is checked (ms). */
const endingMs = 10_000;
const checkEveryMs = 50;

/**
 * Removes the lock of a stage that has ended.
 *
 * @throws StageError if the stage is still running
 */
async function removeStale(file: string, folder: string): Promise<void> {
  const text = readOrUndefined(file);
  // If a stage was killed while it wrote the lock, the lock is incomplete.
  const { data: held } = holder.safeParse(jsonOrUndefined(text ?? ''));
  const inUse = (pid: number): StageError =>
    new InUseError(
      `A local stage (process ${pid}) already uses ${folder}: stop it, or give this one another --data-dir.`,
    );
  if (held?.stage !== undefined && isRunning(held.stage)) throw inUse(held.stage.pid);
  const until = performance.now() + endingMs;
  for (const one of held?.shared ?? []) {
    while (isRunning(one)) {
      if (performance.now() > until) throw inUse(one.pid);
      await setTimeout(checkEveryMs);
    }
  }
  // Another stage that is starting may have replaced the lock.
  if (readOrUndefined(file) === text) rmSync(file, { force: true });
}

function readOrUndefined(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (isSystemError(error, 'ENOENT')) return undefined;
    throw error;
  }
}
