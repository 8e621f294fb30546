/**
 * The data directory keeps a stage's data between its runs: the database's file, the journals of the queues and of Scheduler, the
 * bodies, and the secrets. A lock lets one stage at a time use it. After a stage was killed, the next one also waits for the end
 * of its database.
 */
import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import * as z from 'zod/mini';
import { bodiesFolder as bodiesName, needed, optional, restoring, uncheckedName } from '../backup/files.ts';
import { temporaryPrefix } from '../backup/snapshot.ts';
import { replaceFile } from '../durable.ts';
import { jsonOrUndefined } from '../json.ts';
import { bootId, identify, isRunning, processIdentity, type ProcessIdentity } from './processes.ts';
import { StageError, isSystemError } from './stageError.ts';

export interface DataDirectory {
  /** Its absolute path. */
  readonly folder: string;
  /** Why jobs may be missing in the queues and in Scheduler; undefined where none is. */
  readonly unchecked: Unchecked | undefined;
  /** Notes that a journal lacks something, before it is written again as if it were whole. */
  readonly lacksEntries: () => void;
  /** Notes that no job is missing any more. */
  readonly checked: () => void;
  /** Whether no stage has used it before. */
  readonly isNew: boolean;
  readonly databaseFile: string;
  readonly journalFile: string;
  readonly schedulerJournalFile: string;
  readonly bodiesFolder: string;
  /**
   * A random text, which the first stage made. Call it before the database is started.
   *
   * @throws StageError when another stage has used the directory, and the text is missing
   */
  secret(name: string): string;
  /** Writes a file that only its owner may read, whole or not at all. */
  write(name: string, text: string): void;
  readonly remove: (name: string) => void;
  /** Records the database in the lock: if this stage is killed, the next one waits for the database's end. */
  holdFor(databasePid: number): void;
  readonly release: () => void;
}

const unchecked = z.object({
  /** A journal is missing or damaged, or the machine has lost its power: a disk may lose what it said to have written. */
  reason: z.enum(['journals', 'power']),
  /** Epoch milliseconds of the last change to the data before that. */
  writtenAt: z.number(),
});
export type Unchecked = z.infer<typeof unchecked>;

/** @throws StageError when a running stage uses the directory, or it cannot be written */
export async function openDataDirectory(path: string): Promise<DataDirectory> {
  const folder = resolve(path);
  const inFolder = (name: string): string => join(folder, name);
  const write = (name: string, text: string): void => {
    replaceFile(inFolder(name), Buffer.from(text));
  };
  let powerWasLost: boolean;
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    powerWasLost = await lock(inFolder(lockName), folder);
  } catch (error) {
    if (error instanceof StageError || !(error instanceof Error)) throw error;
    throw new StageError(`The data directory ${folder} cannot be used: ${error.message}`, { cause: error });
  }
  const isNew = ![databaseName, masterSecretName].some((name) => existsSync(inFolder(name)));
  if (existsSync(inFolder(restoring))) {
    rmSync(inFolder(lockName), { force: true });
    throw new StageError(`A restore into ${folder} was interrupted: run svc-queue restore again.`);
  }
  for (const name of readdirSync(folder)) {
    // A backup leaves its copies when the stage is killed meanwhile.
    if (name.startsWith(temporaryPrefix)) rmSync(inFolder(name), { recursive: true });
  }
  for (const name of [...needed, ...optional, 'dynamodb.db-shm', 'env']) {
    // A folder that was copied may let others read what is in it.
    if (existsSync(inFolder(name))) protect(inFolder(name), inFolder(lockName));
  }
  const writtenAt = lastChange([...needed, ...optional].map(inFolder));
  const noted = (): Unchecked | undefined =>
    unchecked.safeParse(jsonOrUndefined(readOrUndefined(inFolder(uncheckedName)) ?? '')).data;
  const note = (reason: Unchecked['reason']): void => {
    write(uncheckedName, JSON.stringify({ reason, writtenAt: noted()?.writtenAt ?? writtenAt }));
  };
  if (powerWasLost && !isNew && noted() === undefined) note('power');
  return {
    folder,
    get unchecked() {
      return noted();
    },
    lacksEntries: () => {
      if (!isNew) note('journals');
    },
    checked: () => {
      rmSync(inFolder(uncheckedName), { force: true });
    },
    isNew,
    databaseFile: inFolder(databaseName),
    journalFile: inFolder('sqs.journal'),
    schedulerJournalFile: inFolder('scheduler.journal'),
    bodiesFolder: inFolder(bodiesName),
    write,
    secret: (name) => {
      if (existsSync(inFolder(name))) return readFileSync(inFolder(name), 'utf8');
      if (!isNew) {
        throw new StageError(
          `The data directory ${folder} has a database, but no ${name}: restore the file from a backup. Without it no token and no signing key is good.`,
        );
      }
      write(name, randomSecret());
      return readFileSync(inFolder(name), 'utf8');
    },
    holdFor: (databasePid) => {
      write(lockName, lockText(databasePid));
    },
    remove: (name) => {
      rmSync(inFolder(name), { force: true });
    },
    release: () => {
      rmSync(inFolder(lockName), { force: true });
    },
  };
}

/** @returns epoch milliseconds */
const lastChange = (paths: readonly string[]): number =>
  Math.max(0, ...paths.map((path) => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0));

/** Lets only its owner read a file. @throws StageError when the service's user is not its owner */
function protect(path: string, lockFile: string): void {
  try {
    chmodSync(path, 0o600);
  } catch (error) {
    rmSync(lockFile, { force: true });
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

const lockName = 'lock';
const databaseName = 'dynamodb.db';
/** The secret that is made last, and before the database. */
export const masterSecretName = 'master-secret';
const holders = z.object({
  stage: processIdentity,
  database: z.optional(processIdentity),
  boot: z.optional(z.string()),
});

/**
 * @returns whether the machine has lost its power since the stage before. A stage that was only killed has left all that it wrote to
 * the system, which has it on the disk in the end.
 */
async function lock(file: string, folder: string): Promise<boolean> {
  for (let powerWasLost = false; ;) {
    try {
      writeFileSync(file, lockText(), { flag: 'wx', mode: 0o600 });
      return powerWasLost;
    } catch (error) {
      if (!isSystemError(error, 'EEXIST')) throw error;
    }
    powerWasLost = await clear(file, folder);
  }
}

function lockText(databasePid?: number): string {
  const database = databasePid === undefined ? undefined : identify(databasePid);
  return JSON.stringify({ stage: identify(process.pid), database, boot: bootId() });
}

/** Removes the lock of a dead stage when its database has ended. @returns whether the machine has started again since */
async function clear(file: string, folder: string): Promise<boolean> {
  const text = readOrUndefined(file);
  const held = text === undefined ? undefined : holdersIn(text);
  // After another start of the machine other processes have these numbers. Where the system does not tell, it may be one.
  const isOtherStart = held?.boot === undefined || held.boot !== bootId();
  const mayRun = held?.boot === undefined || !isOtherStart;
  if (held !== undefined && mayRun && isRunning(held.stage)) {
    throw new StageError(
      `A local stage (process ${held.stage.pid}) already uses ${folder}: stop it, or give this one another --data-dir.`,
    );
  }
  if (held?.database !== undefined && mayRun) await end(held.database);
  // Another stage, started at the same time, may hold the lock by now.
  if (readOrUndefined(file) === text) rmSync(file, { force: true });
  return isOtherStart;
}

function readOrUndefined(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (isSystemError(error, 'ENOENT')) return undefined;
    throw error;
  }
}

/** @returns undefined when the stage died while it wrote the lock */
function holdersIn(text: string): z.infer<typeof holders> | undefined {
  try {
    return holders.safeParse(JSON.parse(text)).data;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** The time for a database to end by itself after its stage was killed; after that it is killed. */
const graceMs = 3000;
const lookAgainAfterMs = 20;

async function end(database: ProcessIdentity): Promise<void> {
  const deadline = performance.now() + graceMs;
  while (isRunning(database)) {
    if (performance.now() > deadline) process.kill(database.pid, 'SIGKILL');
    await setTimeout(lookAgainAfterMs);
  }
}
