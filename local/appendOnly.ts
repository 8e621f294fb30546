/**
 * Append-only files of JSON lines, which are written before the call that caused them is answered. Writing is left to
 * the operating system's cache: an end of the process loses nothing, only an end of the machine might.
 */
import { closeSync, existsSync, ftruncateSync, openSync, readFileSync, renameSync, writeSync } from 'node:fs';
import type * as z from 'zod/mini';
import { jsonOrUndefined } from './json.ts';
import { StageError } from './stageError.ts';

export interface AppendOnly<Entry> {
  append(entries: readonly Entry[]): void;
  /** Whether a rewrite would make the file much shorter, with `live` entries to keep. */
  isLong(live: number): boolean;
  /** Replaces all that is in the file by these entries. */
  rewrite(entries: Iterable<Entry>): void;
  close(): void;
}

/** For a stage that keeps nothing. */
export const nowhere: AppendOnly<unknown> = {
  append: () => undefined,
  isLong: () => false,
  rewrite: () => undefined,
  close: () => undefined,
};

/** How a file is spoken of when it is damaged. */
export interface Described {
  /** Such as "The queues' journal". */
  readonly name: string;
  /** What is gone with it, such as "what is queued". */
  readonly holds: string;
}

/**
 * Reads all entries, in their order. A last line that an end of the process cut off is dropped; a file that is not
 * there has none.
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

/** Starts the file anew with these entries. */
export function openAppendOnly<Entry>(path: string, entries: Iterable<Entry>): AppendOnly<Entry> {
  const file = new AppendOnlyFile<Entry>(path);
  file.rewrite(entries);
  return file;
}

/** So many entries may be in the file beside the ones it needs, before a rewrite is worth its time. */
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
    const bytes = Buffer.from(lines(entries));
    try {
      writeAll(this.#file, bytes);
    } catch (error) {
      // Half a line must not be followed by another: on a full disk the call fails, and the file stays whole.
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
    renameSync(temporary, this.#path);
    this.close();
    this.#file = openSync(this.#path, 'a');
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
