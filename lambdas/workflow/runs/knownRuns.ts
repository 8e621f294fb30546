/**
 * Runs that this process delivered recently. Only their new records are read; otherwise N deliveries would
 * read N² records.
 */
import { knownRunsBytes } from '../../aws/resources.ts';
import { isRecent, minuteMs, now } from '../../shared/clock.ts';
import type { Header } from '../../shared/headers.ts';
import { entriesOf } from '../rules/entry.ts';
import { isActive, type ListedEntry, type RunKey, type RunStart, type Snapshot } from '../rules/journal.ts';
import { readJournal, type JournalRow } from '../store/journals.ts';
import { ListText } from './listText.ts';

/** A run that was not used for this long is forgotten. */
const keptMs = minuteMs;
/** Bytes of memory that a run takes besides its list, approximately. */
const bytesPerRun = 4_096;

interface Place {
  readonly entries: number;
  readonly forwarded: readonly Header[];
}

/** A run and its list, as far as this process has read its journal. */
interface RunList {
  readonly start: RunStart;
  readonly snapshot: Snapshot;
  readonly list: ListText;
  readonly placeOf: (messageId: string) => Place | undefined;
}

class Known {
  readonly list = new ListText();
  readonly #places = new Map<string, Place>();
  start: RunStart | undefined;
  snapshot: Snapshot | undefined;
  #lastForwarded: { readonly text: string; readonly headers: readonly Header[] } = {
    text: '[]',
    headers: [],
  };

  async add({ record, snapshot }: JournalRow): Promise<void> {
    for (const entry of entriesOf(record)) {
      // The entry was added before its record failed to be added completely.
      if (this.#places.has(entry.messageId)) continue;
      await this.list.append(entry);
      this.#places.set(entry.messageId, { entries: this.list.entries, forwarded: this.#forwardedOf(entry) });
    }
    if (record.kind === 'upgrade') {
      // An upgrade delivers the first entry, the payload, again.
      const [first] = this.#places.values();
      if (first !== undefined) this.#places.set(record.messageId, first);
    }
    if ('start' in record) this.start = record.start;
    this.snapshot = snapshot;
  }

  readonly placeOf = (messageId: string): Place | undefined => this.#places.get(messageId);

  /** Keeps equal headers once, because steps of one group usually have the same. */
  #forwardedOf({ forwarded = [] }: ListedEntry): readonly Header[] {
    const text = JSON.stringify(forwarded);
    if (text !== this.#lastForwarded.text) this.#lastForwarded = { text, headers: forwarded };
    return this.#lastForwarded.headers;
  }
}

class KnownRun {
  readonly #key: RunKey;
  readonly #startSeq: number;
  #known = new Known();
  #reading: Promise<unknown> = Promise.resolve();
  #next: Promise<RunList | undefined> | undefined;
  usedAt = 0;

  constructor(key: RunKey, startSeq: number) {
    this.#key = key;
    this.#startSeq = startSeq;
  }

  get heldBytes(): number {
    return bytesPerRun + this.#known.list.heldBytes;
  }

  /**
   * Reads new records. Callers that arrive during a read share the next one, so that they see everything
   * written before.
   */
  read(): Promise<RunList | undefined> {
    if (this.#next === undefined) {
      const next = this.#reading.then(() => {
        this.#next = undefined;
        return this.#readOn();
      });
      this.#next = next;
      this.#reading = next.catch(() => undefined);
    }
    return this.#next;
  }

  async #readOn(): Promise<RunList | undefined> {
    const known = this.#known;
    const { snapshot: before } = known;
    for await (const row of readJournal(this.#key, before === undefined ? this.#startSeq : before.seq + 1)) {
      const { record, snapshot } = row;
      // The id has another run, so this run has ended.
      if (record.kind === 'start' && snapshot.seq !== this.#startSeq) return undefined;
      // The start has expired. DynamoDB removes expired rows in any order.
      if (known.start === undefined && record.kind !== 'start') return undefined;
      if (before !== undefined && snapshot.keptUntil !== before.keptUntil) {
        // The records were extended since they were read, and bodies in the bucket have new keys.
        this.#known = new Known();
        return this.#readOn();
      }
      await known.add(row);
    }
    const { start, snapshot, list, placeOf } = known;
    return start === undefined || snapshot === undefined ? undefined : { start, snapshot, list, placeOf };
  }
}

/** By name; the run that was used last is at the end. */
const runs = new Map<string, KnownRun>();

function forgetOldest(): void {
  let held = 0;
  for (const [name, run] of [...runs].toReversed()) {
    held += run.heldBytes;
    if (held > knownRunsBytes) runs.delete(name);
  }
}

/**
 * Strongly consistent.
 *
 * @returns undefined if the run has ended, or its records have expired
 */
export async function loadRunList(key: RunKey, startSeq: number): Promise<RunList | undefined> {
  const name = JSON.stringify([key.accountId, key.runId, startSeq]);
  const known = runs.get(name);
  const run =
    known !== undefined && isRecent(known.usedAt, keptMs, now()) ? known : new KnownRun(key, startSeq);
  run.usedAt = now();
  runs.delete(name);
  runs.set(name, run);
  const found = await run.read();
  if (found === undefined || !isActive(found.snapshot)) {
    if (runs.get(name) === run) runs.delete(name);
    return undefined;
  }
  forgetOldest();
  return found;
}
