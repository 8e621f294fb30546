/**
 * Append-only files of JSON lines. A line is written before the request that caused it is answered. It is not flushed to the
 * disk: the operating system writes it even after the process was killed, but it may be lost when the machine loses power.
 */
import { closeSync, existsSync, ftruncateSync, openSync, readFileSync, renameSync, writeSync } from 'node:fs';
import type * as z from 'zod/mini';
import { jsonOrUndefined } from '../json.ts';
import { StageError } from '../stage/stageError.ts';

export interface AppendOnly<Entry> {
  /** @throws Error when the file is closed, or the disk is full */
  append(entries: readonly Entry[]): void;
  /** Whether the file has many more entries than the `live` ones that a rewrite would keep. */
  isLong(live: number): boolean;
  /** Replaces all entries of the file by these. */
  rewrite(entries: Iterable<Entry>): void;
  close(): void;
}

/** A file of a stage that keeps nothing. */
export const nowhere: AppendOnly<unknown> = {
  append: () => undefined,
  isLong: () => false,
  rewrite: () => undefined,
  close: () => undefined,
};

/** The words of the error that says that a file is damaged. */
export interface Described {
  /** The name in error texts, such as "The queues' journal". */
  readonly name: string;
  /** The data that is lost, such as "what is queued". */
  readonly holds: string;
}

/**
 * Reads all entries, in their order. An incomplete last line is dropped: the process was killed while it wrote it. A missing file
 * has no entries.
 *
 * @throws StageError when the file is damaged elsewhere
 */
export function readEntries<Schema extends z.ZodMiniType>(
  path: string,
  schema: Schema,
  { name, holds }: Described,
): z.infer<Schema>[] {
  if (!existsSync(path)) return [];
  const text = readFileSync(path, 'utf8');
  const whole = text.slice(0, text.lastIndexOf('\n') + 1);
  return whole
    .split('\n')
    .slice(0, -1)
    .map((line, index) => {
      const parsed = schema.safeParse(jsonOrUndefined(line));
      if (parsed.success) return parsed.data;
      throw new StageError(
        `${name} is damaged at line ${index + 1} of ${path}: restore the file, or remove it to lose ${holds}.`,
      );
    });
}

/** Opens the file, with these entries in place of its own. */
export function openAppendOnly<Entry>(path: string, entries: Iterable<Entry>): AppendOnly<Entry> {
  const file = new AppendOnlyFile<Entry>(path);
  file.rewrite(entries);
  return file;
}

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

  constructor(path: string) {
    this.#path = path;
  }

  append(entries: readonly Entry[]): void {
    if (this.#file < 0) throw new Error(`${this.#path} is closed: nothing more can be kept in it.`);
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
  }

  isLong(live: number): boolean {
    return this.#entries > slack + 4 * live;
  }

  rewrite(entries: Iterable<Entry>): void {
    const all = [...entries];
    const bytes = Buffer.from(lines(all));
    const temporary = `${this.#path}.new`;
    const file = openSync(temporary, 'w', 0o600);
    writeAll(file, bytes);
    closeSync(file);
    // Windows does not replace an open file.
    this.close();
    try {
      renameSync(temporary, this.#path);
    } finally {
      this.#file = openSync(this.#path, 'a');
    }
    this.#bytes = bytes.length;
    this.#entries = all.length;
  }

  close(): void {
    if (this.#file >= 0) closeSync(this.#file);
    this.#file = -1;
  }
}

function lines(entries: readonly unknown[]): string {
  return entries.map((item) => `${JSON.stringify(item)}\n`).join('');
}

function writeAll(file: number, bytes: Buffer): void {
  for (let written = 0; written < bytes.length;) written += writeSync(file, bytes, written);
}
