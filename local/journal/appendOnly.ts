/**
 * Append-only files of JSON lines. A line is written before the request that caused it is answered, and what must not be lost
 * waits until it is on the disk: `flushed`. Those that wait at the same time share one flush.
 */
import {
  closeSync,
  copyFileSync,
  existsSync,
  fdatasync,
  ftruncateSync,
  openSync,
  readFileSync,
} from 'node:fs';
import { promisify } from 'node:util';
import type * as z from 'zod/mini';
import { replaceFile, writeAll } from '../durable.ts';
import { jsonOrUndefined } from '../json.ts';

export interface AppendOnly<Entry> {
  /** @throws Error when the file is closed, or the disk is full */
  append(entries: readonly Entry[]): void;
  /**
   * Waits until all entries of before are on the disk.
   *
   * @throws Error of the disk: it is not known which of them are there
   */
  flushed(): Promise<void>;
  /** Has the file rewritten with the live entries when it has become much longer than they are. */
  keepShort(live: Live<Entry>): void;
  close(): void;
}

/** The entries that a rewritten file has. */
export interface Live<Entry> {
  readonly count: () => number;
  readonly entries: () => Iterable<Entry>;
}

/** A file of a stage that keeps nothing. */
export const nowhere: AppendOnly<unknown> = {
  append: () => undefined,
  flushed: () => Promise.resolve(),
  keepShort: () => undefined,
  close: () => undefined,
};

/**
 * Reads all entries, in their order. An incomplete last line is dropped: nobody was told that it was written. A file with
 * another line that is no entry is damaged; it is kept beside, with `.damaged` after its name.
 *
 * @param lacksEntries called where the file is missing or damaged: it may have had more than what is returned
 */
export function readEntries<Schema extends z.ZodMiniType>(
  path: string,
  schema: Schema,
  lacksEntries: () => void,
): readonly z.infer<Schema>[] {
  if (!existsSync(path)) {
    lacksEntries();
    return [];
  }
  const lines = readFileSync(path, 'utf8').split('\n').slice(0, -1);
  const entries = lines.flatMap((line) => schema.safeParse(jsonOrUndefined(line)).data ?? []);
  if (entries.length < lines.length) {
    copyFileSync(path, `${path}.damaged`);
    lacksEntries();
  }
  return entries;
}

/** Opens the file, with these entries in place of its own. */
export function openAppendOnly<Entry>(path: string, entries: Iterable<Entry>): AppendOnly<Entry> {
  return new AppendOnlyFile<Entry>(path, [...entries]);
}

const flush = promisify(fdatasync);

/**
 * The entries that the file may have besides four for each live one before it is rewritten. So a rewrite is rare even with few
 * live messages, and takes little time beside the appends before it.
 */
const slack = 20_000;

class AppendOnlyFile<Entry> implements AppendOnly<Entry> {
  readonly #path: string;
  #file = -1;
  #bytes = 0;
  #entries = 0;
  #live: Live<Entry> | undefined;
  /** The flush under way, and the one that begins after it, for what was written meanwhile. */
  #current: Promise<void> = Promise.resolve();
  #next: Promise<void> | undefined;
  #flushedBytes = 0;
  /** After a failed flush nobody knows what is on the disk: the file must be written again. */
  #isSpoilt = false;

  constructor(path: string, entries: readonly Entry[]) {
    this.#path = path;
    this.#rewrite(entries);
  }

  append(entries: readonly Entry[]): void {
    this.#checkOpen();
    const bytes = Buffer.from(lines(entries));
    try {
      writeAll(this.#file, bytes);
    } catch (error) {
      // The request fails on a full disk. The incomplete line is cut off, so that the file stays readable.
      ftruncateSync(this.#file, this.#bytes);
      throw error;
    }
    this.#bytes += bytes.length;
    this.#entries += entries.length;
    // A flush shortens the file. Where it fails, the next one to wait for a flush is told.
    if (this.#isLong) this.flushed().catch(() => undefined);
  }

  flushed(): Promise<void> {
    this.#next ??= this.#current
      // Those who waited for it have its error.
      .catch(() => undefined)
      .then(() => {
        this.#next = undefined;
        this.#current = this.#flush();
        return this.#current;
      });
    return this.#next;
  }

  keepShort(live: Live<Entry>): void {
    this.#live = live;
  }

  close(): void {
    const file = this.#file;
    this.#file = -1;
    if (file >= 0)
      void this.#current
        .catch(() => undefined)
        .then(() => {
          closeSync(file);
        });
  }

  get #isLong(): boolean {
    return this.#live !== undefined && this.#entries > slack + 4 * this.#live.count();
  }

  async #flush(): Promise<void> {
    this.#checkOpen();
    // No flush is under way here, and memory and file agree: nothing else runs between a change of both.
    if (this.#live !== undefined && (this.#isSpoilt || this.#isLong)) {
      this.#rewrite([...this.#live.entries()]);
      return;
    }
    const bytes = this.#bytes;
    if (bytes === this.#flushedBytes) return;
    try {
      await flush(this.#file);
      this.#flushedBytes = bytes;
    } catch (error) {
      this.#isSpoilt = true;
      throw error;
    }
  }

  #rewrite(entries: readonly Entry[]): void {
    const bytes = Buffer.from(lines(entries));
    // Windows does not replace an open file.
    if (this.#file >= 0) closeSync(this.#file);
    try {
      replaceFile(this.#path, bytes);
      this.#isSpoilt = false;
      this.#bytes = bytes.length;
      this.#flushedBytes = bytes.length;
      this.#entries = entries.length;
    } finally {
      this.#file = openSync(this.#path, 'a', 0o600);
    }
  }

  #checkOpen(): void {
    if (this.#file < 0) throw new Error(`${this.#path} is closed: nothing more can be kept in it.`);
  }
}

function lines(entries: readonly unknown[]): string {
  return entries.map((item) => `${JSON.stringify(item)}\n`).join('');
}
