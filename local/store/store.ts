/**
 * The store of one machine: a file of sorted entries, based on LMDB. Tables, queues, schedules and objects
 * are all in it, so that they can be written together.
 *
 * All writes in one turn of the event loop are one transaction, and so are those that arrive while another
 * transaction is written. Reads see only what is on the disk: after a kill or a loss of power, each
 * transaction is in the file completely or not at all.
 *
 * Several processes can use the file. Their transactions follow one another, so a change that depends on
 * entries is decided inside its transaction.
 */
import { randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { open, type RootDatabase, type Transaction } from 'lmdb';
import { checked, DamageError, isSealed, sealed, Sum, sumKey } from './checksum.ts';
import { mayBePanic, reasonOf, Refusals } from './refusals.ts';

export interface Entry {
  readonly key: Buffer;
  readonly value: Buffer;
}

/**
 * The contents at a moment. `done` must be called soon, because freed space in the file cannot be used until
 * then.
 */
export interface Snapshot {
  readonly transaction: Transaction;
  readonly done: () => void;
}

interface RangeOptions {
  readonly from: Buffer;
  readonly to: Buffer;
  /** From the last key to the first. */
  readonly isReverse?: boolean;
  readonly at?: Snapshot | undefined;
}

export type Write = (key: Buffer, value: Buffer | undefined) => void;

class Batch {
  readonly changes: ((write: Write) => void)[] = [];
  readonly onWritten: (() => void)[] = [];
  readonly committed: Promise<void>;
  resolve: () => void = () => undefined;
  reject: (error: unknown) => void = () => undefined;

  constructor() {
    this.committed = new Promise((resolve, reject) => {
      this.resolve = resolve;
      this.reject = reject;
    });
    // Not every caller waits for the result.
    this.committed.catch(() => undefined);
  }
}

const isWindows = process.platform === 'win32';

/** In bytes. LMDB would omit an entry with a longer key without an error. */
const longestKey = 1_978;
/** A write for which no caller waits is delayed by at most this (ms). */
const longestWaitMs = 10;

export class Store {
  /** Whether the file remains when the process ends. A file that was removed cannot be reopened. */
  readonly #isLasting: boolean;
  /** If another process writes the store, the moment that all reads see. */
  readonly #at: Snapshot | undefined;
  readonly #open: () => RootDatabase<Buffer, Buffer>;
  #database: RootDatabase<Buffer, Buffer>;
  readonly #refusals: Refusals;
  /** Ranges and snapshots in use. The file cannot be closed until they are done. */
  #readers = 0;
  /** `doubtful`: the file must be reopened. `closed`: it is being reopened. */
  #state: 'open' | 'doubtful' | 'closed' = 'open';
  #next: Batch | undefined;
  #current: Batch | undefined;
  #isDue = false;
  #committing: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;

  /**
   * @param file undefined for a store that ends with the process
   * @param isOfOther whether another process writes it; then it is read as it is now
   */
  constructor(file: string | undefined, isOfOther = false) {
    this.#refusals = new Refusals(file);
    const path = file ?? join(tmpdir(), `svc-queue-${randomUUID()}.mdb`);
    this.#isLasting = file !== undefined;
    this.#open = () =>
      open<Buffer, Buffer>({
        path,
        ...(file === undefined ? { noSync: true, deleteOnClose: isWindows } : { overlappingSync: false }),
        noSubdir: true,
        readOnly: isOfOther,
        encoding: 'binary',
        keyEncoding: 'binary',
        cache: false,
        // This class makes its own batches.
        eventTurnBatching: false,
      });
    this.#database = this.#open();
    if (isOfOther) this.#at = this.snapshot();
    // Removed at once, so that it disappears with the process, however that ends.
    if (file === undefined && !isWindows) for (const name of [path, `${path}-lock`]) rmSync(name);
  }

  /** @throws DamageError if the value is not as it was written */
  get(key: Buffer, at = this.#at): Buffer | undefined {
    const value = this.#readable().get(key, at && { transaction: at.transaction });
    return value && checked(key, value);
  }

  /**
   * Gets a value in shared memory, which the next read may change.
   *
   * @param known a value that was read or written before, and need not be checked again
   * @throws DamageError as `get` does
   */
  peek(key: Buffer, known: Buffer | undefined): Buffer | undefined {
    if (this.#at !== undefined) return this.get(key);
    const shared = this.#readable().getBinaryFast(key);
    // The buffer is longer. Its property `length` says how long the value is.
    const value = shared?.subarray(0, shared.length);
    return value && (known !== undefined && isSealed(value, known) ? known : checked(key, value));
  }

  /** Lets reads see the writes of other processes. */
  refresh(): void {
    if (this.#at === undefined) this.#readable().resetReadTxn();
  }

  *range(options: RangeOptions): Generator<Entry> {
    this.#readers += 1;
    try {
      for (const { key, value } of this.#readable().getRange(this.#rangeOf(options))) {
        yield { key, value: checked(key, value) };
      }
    } finally {
      this.#readers -= 1;
    }
  }

  *keys(options: RangeOptions): Generator<Buffer> {
    this.#readers += 1;
    try {
      yield* this.#readable().getKeys(this.#rangeOf(options));
    } finally {
      this.#readers -= 1;
    }
  }

  /** @throws DamageError if an entry is missing, not as it was written, or older than others */
  checkSum(): void {
    const sum = new Sum(undefined);
    const transaction = this.#at?.transaction;
    for (const { key, value } of this.#readable().getRange(transaction && { transaction })) {
      checked(key, value);
      if (!key.equals(sumKey)) sum.add(value);
    }
    if (!sum.equals(new Sum(this.get(sumKey)))) {
      throw new DamageError('The store is damaged: entries are missing, or older than others.');
    }
  }

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

  /** Writes an entry in the next transaction, or deletes it if the value is undefined. */
  write(key: Buffer, value: Buffer | undefined): void {
    checkKey(key);
    (this.#next ??= new Batch()).changes.push((write) => {
      write(key, value);
    });
    this.#timer ??= setTimeout(() => {
      this.#commitSoon();
    }, longestWaitMs);
  }

  /**
   * Decides about writes inside the next transaction, where reads see all earlier writes, even of other
   * processes.
   *
   * @param decide may throw before its first write
   * @param onWritten called with the result before callers that wait for the disk
   * @returns the result of `decide`, when the writes are on the disk
   * @throws Error of `decide`, or of the disk; nothing was written then
   */
  async change<Result>(
    decide: (write: Write) => Result,
    onWritten?: (result: Result) => void,
  ): Promise<Result> {
    const batch = (this.#next ??= new Batch());
    let end = (): Result => {
      throw new Error('The change was not decided.');
    };
    batch.changes.push((write) => {
      try {
        const result = decide(write);
        end = () => result;
        if (onWritten !== undefined) {
          batch.onWritten.push(() => {
            onWritten(result);
          });
        }
      } catch (error) {
        end = () => {
          throw error;
        };
      }
    });
    this.#commitSoon();
    await batch.committed;
    return end();
  }

  /**
   * Waits until all writes are on the disk.
   *
   * @throws Error of the disk; then no waiting write was made
   */
  committed(): Promise<void> {
    if (this.#next === undefined) return this.#current?.committed ?? Promise.resolve();
    this.#commitSoon();
    return this.#next.committed;
  }

  async close(): Promise<void> {
    await Promise.allSettled([this.committed()]);
    await this.#committing;
    clearTimeout(this.#timer);
    this.#at?.done();
    if (this.#state !== 'closed') await this.#database.close();
  }

  #commitSoon(): void {
    this.#isDue = true;
    this.#committing ??= this.#commitAll();
  }

  async #commitAll(): Promise<void> {
    while (this.#isDue) {
      // Lets all writes join that are made in this turn of the event loop.
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
    this.#current = batch;
    try {
      await this.#refusals.check();
      await this.#openAgain();
      await this.#database.transaction(() => {
        this.#make(batch);
      });
      for (const tell of batch.onWritten) tell();
      batch.resolve();
    } catch (error) {
      const failure = await reasonOf(error);
      if (this.#isLasting && this.#state === 'open' && mayBePanic(failure)) this.#state = 'doubtful';
      const reason = await this.#refusals.note(failure);
      // If this fails, the next write tries again.
      await this.#openAgain().catch(() => undefined);
      batch.reject(reason);
      // Later writes may depend on the failed one.
      this.#taken()?.reject(reason);
    } finally {
      this.#current = undefined;
    }
  }

  /** Reopens the file if LMDB may have failed. */
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

  #make({ changes }: Batch): void {
    let sum: Sum | undefined;
    const write: Write = (key, value) => {
      checkKey(key);
      sum ??= new Sum(this.get(sumKey));
      const before = this.#database.getBinaryFast(key);
      if (before !== undefined) sum.remove(before);
      if (value !== undefined) {
        const bytes = sealed(key, value);
        sum.add(bytes);
        this.#database.putSync(key, bytes);
      } else if (before !== undefined) {
        this.#database.removeSync(key);
      }
    };
    for (const change of changes) change(write);
    if (sum !== undefined) this.#database.putSync(sumKey, sealed(sumKey, sum.bytes()));
  }

  #rangeOf({ from, to, isReverse = false, at = this.#at }: RangeOptions) {
    return {
      ...(isReverse
        ? { start: to, end: from, reverse: true, exclusiveStart: true, inclusiveEnd: true }
        : { start: from, end: to }),
      ...(at !== undefined && { transaction: at.transaction }),
    };
  }

  #taken(): Batch | undefined {
    const batch = this.#next;
    this.#next = undefined;
    return batch;
  }
}

function checkKey(key: Buffer): void {
  if (key.length > longestKey || key.equals(sumKey)) throw new RangeError('No entry can have this key.');
}
