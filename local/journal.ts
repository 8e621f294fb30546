/**
 * What the queues have promised to keep, as an append-only file of JSON lines. An entry is written before the
 * call that caused it is answered. Writing is left to the operating system's cache: an end of the process
 * loses nothing, only an end of the machine might.
 */
import { closeSync, existsSync, ftruncateSync, openSync, readFileSync, renameSync, writeSync } from 'node:fs';
import * as z from 'zod/mini';
import { StageError } from './stageError.ts';

const storedMessage = z.object({
  id: z.string(),
  body: z.string(),
  groupId: z.optional(z.string()),
  /** Epoch milliseconds, as are all times here. */
  sentAt: z.number(),
  availableAt: z.number(),
  receives: z.number(),
  firstReceivedAt: z.optional(z.number()),
  /** The queue that gave the message up, when this is a dead queue. */
  deadLetterSource: z.optional(z.string()),
});
export type StoredMessage = z.infer<typeof storedMessage>;

const entry = z.discriminatedUnion('op', [
  z.object({ op: z.literal('keep'), queue: z.string(), message: storedMessage }),
  z.object({ op: z.literal('receive'), id: z.string(), at: z.number() }),
  z.object({ op: z.literal('move'), id: z.string(), queue: z.string(), at: z.number() }),
  z.object({ op: z.literal('delete'), ids: z.array(z.string()) }),
  z.object({ op: z.literal('purge'), queue: z.string() }),
]);
export type Entry = z.infer<typeof entry>;

/** Messages by id, each with the queue it is in. */
export type Kept = Map<string, { readonly queue: string; readonly message: StoredMessage }>;

export interface Journal {
  /** What was kept when the journal was opened. */
  readonly kept: Kept;
  append(entries: readonly Entry[]): void;
  /** Whether rewriting the journal would make it much shorter, with `live` messages to keep. */
  isLong(live: number): boolean;
  /** Replaces the whole journal by these entries. */
  rewrite(entries: Iterable<Entry>): void;
  close(): void;
}

/** For a stage that keeps nothing. */
export const noJournal: Journal = {
  kept: new Map(),
  append: () => undefined,
  isLong: () => false,
  rewrite: () => undefined,
  close: () => undefined,
};

/**
 * Reads the journal, drops a last line that an end of the process cut off, and rewrites it to what is kept.
 *
 * @throws StageError when the file is damaged elsewhere
 */
export function openJournal(path: string): Journal {
  const kept = existsSync(path) ? replay(path, readFileSync(path, 'utf8')) : new Map<never, never>();
  const journal = new JournalFile(path, kept);
  journal.rewrite([...kept.values()].map(({ queue, message }) => ({ op: 'keep', queue, message })));
  return journal;
}

/** So many entries may be in the file beside the ones it needs, before a rewrite is worth its time. */
const slack = 20_000;

class JournalFile implements Journal {
  readonly kept: Kept;
  readonly #path: string;
  #file = -1;
  #bytes = 0;
  #entries = 0;

  constructor(path: string, kept: Kept) {
    this.#path = path;
    this.kept = kept;
  }

  append(entries: readonly Entry[]): void {
    const bytes = Buffer.from(lines(entries));
    try {
      writeAll(this.#file, bytes);
    } catch (error) {
      // Half a line must not be followed by another: on a full disk the send fails, and the journal stays whole.
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

function lines(entries: readonly Entry[]): string {
  return entries.map((item) => `${JSON.stringify(item)}\n`).join('');
}

function writeAll(file: number, bytes: Buffer): void {
  for (let written = 0; written < bytes.length;) written += writeSync(file, bytes, written);
}

function replay(path: string, text: string): Kept {
  const kept: Kept = new Map();
  const whole = text.slice(0, text.lastIndexOf('\n') + 1);
  whole
    .split('\n')
    .slice(0, -1)
    .forEach((line, index) => {
      apply(kept, parseLine(line, `line ${index + 1} of ${path}`));
    });
  return kept;
}

function parseLine(line: string, where: string): Entry {
  const parsed = entry.safeParse(jsonOrUndefined(line));
  if (!parsed.success) {
    throw new StageError(
      `The queues' journal is damaged at ${where}: restore the file, or remove it to lose what is queued.`,
    );
  }
  return parsed.data;
}

function jsonOrUndefined(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** Changes what is kept as the entry says; one about a message that is gone changes nothing. */
function apply(kept: Kept, change: Entry): void {
  switch (change.op) {
    case 'keep':
      kept.set(change.message.id, { queue: change.queue, message: change.message });
      return;
    case 'receive': {
      const found = kept.get(change.id);
      if (found === undefined) return;
      found.message.receives += 1;
      found.message.firstReceivedAt ??= change.at;
      return;
    }
    case 'move': {
      const found = kept.get(change.id);
      if (found === undefined) return;
      const message = { ...found.message, availableAt: change.at, deadLetterSource: found.queue };
      kept.set(change.id, { queue: change.queue, message });
      return;
    }
    case 'delete':
      for (const id of change.ids) kept.delete(id);
      return;
    case 'purge':
      for (const [id, { queue }] of kept) if (queue === change.queue) kept.delete(id);
  }
}
