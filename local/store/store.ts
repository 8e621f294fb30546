/**
 * The store of one machine: a file of ordered entries, over LMDB. Tables, queues, schedules and objects are all in it, so that what
 * belongs together is written together.
 *
 * Writes of the same turn of the event loop are one transaction, as are those that arrive while another transaction is written. Reads see only committed data, and
 * committed data is on the disk: after a kill or a loss of power the file has each
 * transaction in full, or not at all.
 */
import { randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { open, type RootDatabase, type Transaction } from 'lmdb';
import { checked, sealed } from './checksum.ts';
import { mayBePanic, reasonOf, Refusals } from './refusals.ts';
import { Sum, sumKey } from './sum.ts';

export interface Entry {
  readonly key: Buffer;
  readonly value: Buffer;
}

/** The contents of a store at a moment. Call `done` soon: the file cannot reuse space that is freed in the meantime. */
export interface Snapshot {
  readonly transaction: Transaction;
  readonly done: () => void;
}

export interface RangeOptions {
  /** The first key. */
  readonly from: Buffer;
  /** The key behind the last one. */
  readonly to: Buffer;
  /** From the last key to the first. */
  readonly isReverse?: boolean;
  /** Reads as of one moment, unaffected by later writes. */
  readonly at?: Snapshot | undefined;
}

/** Writes that share a transaction. */
class Batch {
  readonly writes = new Map<string, { readonly key: Buffer; readonly value: Buffer | undefined }>();
  readonly committed: Promise<void>;
  resolve: () => void = () => undefined;
  reject: (error: unknown) => void = () => undefined;

  constructor() {
    this.committed = new Promise((resolve, reject) => {
      this.resolve = resolve;
      this.reject = reject;
    });
    // Possibly nothing is waiting for it.
    this.committed.catch(() => undefined);
  }
}

const isWindows = process.platform === 'win32';

/** In bytes. LMDB would leave an entry with a longer one out of its transaction. */
const longestKey = 1_978;
/** The longest delay of a write whose result nothing awaits, in ms. */
const longestWaitMs = 10;

export class Store {
  /** Whether the file is there after the process: one that has been removed cannot be opened again. */
  readonly #isLasting: boolean;
  readonly #open: () => RootDatabase<Buffer, Buffer>;
  #database: RootDatabase<Buffer, Buffer>;
  readonly #refusals: Refusals;
  /** Ranges and snapshots that are being read. The file cannot be closed in the meantime. */
  #readers = 0;
  /** Whether the file must be opened again, and whether it has been closed for that. */
  #state: 'open' | 'doubtful' | 'closed' = 'open';
  /** The writes of the next transaction. */
  #next: Batch | undefined;
  #isDue = false;
  #committing: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;

  /** @param file undefined for a store that ends with the process */
  constructor(file: string | undefined) {
    this.#refusals = new Refusals(file);
    const path = file ?? join(tmpdir(), `svc-queue-${randomUUID()}.mdb`);
    this.#isLasting = file !== undefined;
    this.#open = () =>
      open<Buffer, Buffer>({
        path,
        ...(file === undefined ? { noSync: true, deleteOnClose: isWindows } : { overlappingSync: false }),
        noSubdir: true,
        encoding: 'binary',
        keyEncoding: 'binary',
        cache: false,
        // The batches here are made for the purpose.
        eventTurnBatching: false,
      });
    this.#database = this.#open();
    // A file without a name goes with its process, however that ends.
    if (file === undefined && !isWindows) for (const name of [path, `${path}-lock`]) rmSync(name);
  }

  /** @throws DamageError when the value is not the one that was written */
  get(key: Buffer, at?: Snapshot): Buffer | undefined {
    const value = this.#readable().get(key, at && { transaction: at.transaction });
    return value && checked(key, value);
  }

  /** @throws DamageError as `get` does */
  *range(options: RangeOptions): Generator<Entry> {
    this.#readers += 1;
    try {
      for (const { key, value } of this.#readable().getRange(rangeOf(options))) {
        yield { key, value: checked(key, value) };
      }
    } finally {
      this.#readers -= 1;
    }
  }

  /** The keys alone, in order. */
  *keys(options: RangeOptions): Generator<Buffer> {
    this.#readers += 1;
    try {
      yield* this.#readable().getKeys(rangeOf(options));
    } finally {
      this.#readers -= 1;
    }
  }

  /** Keeps the contents as they are now, for readers. */
  snapshot(): Snapshot {
    const transaction = this.#readable().useReadTransaction();
    this.#readers += 1;
    return {
      transaction,
      done: () => {
        this.#readers -= 1;
        transaction.done();
      },
    };
  }

  /** Writes an entry with the next transaction, or deletes it where the value is undefined. A later write of the key replaces it. */
  write(key: Buffer, value: Buffer | undefined): void {
    if (key.length > longestKey || key.equals(sumKey)) throw new RangeError('No entry can have this key.');
    this.#next ??= new Batch();
    this.#next.writes.set(key.toString('latin1'), { key, value: value && sealed(key, value) });
    this.#timer ??= setTimeout(() => {
      this.#commitSoon();
    }, longestWaitMs);
  }

  /**
   * Waits until all that was written is on the disk.
   *
   * @throws Error of the disk: then nothing of what waited was written
   */
  committed(): Promise<void> {
    if (this.#next === undefined) return this.#committing ?? Promise.resolve();
    this.#commitSoon();
    return this.#next.committed;
  }

  /** Has all on the disk, and closes the file. */
  async close(): Promise<void> {
    await Promise.allSettled([this.committed()]);
    await this.#committing;
    clearTimeout(this.#timer);
    if (this.#state !== 'closed') await this.#database.close();
  }

  #commitSoon(): void {
    this.#isDue = true;
    this.#committing ??= this.#commitAll();
  }

  async #commitAll(): Promise<void> {
    while (this.#isDue) {
      // All that is ready now takes part.
      await setImmediate();
      clearTimeout(this.#timer);
      this.#timer = undefined;
      this.#isDue = false;
      await this.#commit();
    }
    this.#committing = undefined;
  }

  async #commit(): Promise<void> {
    const batch = this.#taken();
    if (batch === undefined) return;
    try {
      await this.#refusals.check();
      await this.#openAgain();
      await this.#database.transaction(() => {
        this.#put(batch);
      });
      batch.resolve();
    } catch (error) {
      const failure = await reasonOf(error);
      if (this.#isLasting && this.#state === 'open' && mayBePanic(failure)) this.#state = 'doubtful';
      const reason = await this.#refusals.note(failure);
      // Where this fails, the next write tries again.
      await this.#openAgain().catch(() => undefined);
      batch.reject(reason);
      // Writes made since may depend on the write that failed.
      this.#taken()?.reject(reason);
    }
  }

  /** Opens the file again where LMDB may have given up: its next transaction would never end. */
  async #openAgain(): Promise<void> {
    if (this.#state === 'open') return;
    if (this.#state === 'doubtful') {
      if (this.#readers > 0) throw new Error('EIO: the store cannot be opened again while it is read.');
      this.#state = 'closed';
      await this.#database.close();
    }
    this.#database = this.#open();
    this.#state = 'open';
  }

  /** @throws Error while the file is closed */
  #readable(): RootDatabase<Buffer, Buffer> {
    if (this.#state === 'closed')
      throw new Error('EIO: the store could not be written, and is opened again.');
    return this.#database;
  }

  /** Writes entries, and the new sum of all entries, within a transaction. */
  #put(batch: Batch): void {
    const sum = new Sum(this.get(sumKey));
    for (const { key, value } of batch.writes.values()) {
      const before = this.#database.getBinaryFast(key);
      if (before !== undefined) sum.remove(before);
      if (value !== undefined) {
        sum.add(value);
        this.#database.putSync(key, value);
      } else if (before !== undefined) {
        this.#database.removeSync(key);
      }
    }
    this.#database.putSync(sumKey, sealed(sumKey, sum.bytes()));
  }

  /** Takes the writes of the next transaction. */
  #taken(): Batch | undefined {
    const batch = this.#next;
    this.#next = undefined;
    return batch;
  }
}

function rangeOf({ from, to, isReverse = false, at }: RangeOptions) {
  return {
    ...(isReverse
      ? { start: to, end: from, reverse: true, exclusiveStart: true, inclusiveEnd: true }
      : { start: from, end: to }),
    ...(at !== undefined && { transaction: at.transaction }),
  };
}
