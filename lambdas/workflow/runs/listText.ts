/**
 * The list of a run as text, which grows with the run. A delivery shows the beginning of it, so nothing is encoded twice. Large
 * bodies are not part of the text: each leaves a gap, and is read when a delivery needs it.
 */
import { loadBody, type StoredBody } from '../../message/bodies.ts';
import type { ListedEntry } from '../rules/journal.ts';
import { base64Length, frameOf, writeBase64 } from './listBody.ts';
import { bytesWhileLoading, entriesWithBodies, fitsIntoAnswer, sizeOf } from './runEntries.ts';

/** Bytes of the largest body that is part of the text. */
const largestInText = 4_096;
const firstBytes = 1_024;
/** The text that is full is copied into one that is larger by this factor. */
const growth = 1.25;
/** Bytes that an entry takes beside its text, and a gap beside its body, about: its place in tables and maps. */
const bytesPerEntry = 150;
const bytesPerGap = 300;

/** A place in the text where a body is missing. */
interface Gap {
  /** The entry's place in the list, and the text's bytes before the body. */
  readonly index: number;
  readonly at: number;
  readonly messageId: string;
  readonly body: StoredBody;
  readonly bodyBytes: number;
  /** Bytes that the bodies of this gap and those before it have in the list. */
  readonly filled: number;
}

export class ListText {
  #text = Buffer.allocUnsafe(firstBytes);
  #end = this.#text.write('[');
  /** The end of each entry in the text. */
  readonly #ends: number[] = [];
  readonly #gaps: Gap[] = [];
  #storedBytes = 0;

  get entries(): number {
    return this.#ends.length;
  }

  /** Bytes of memory that it takes, about. */
  get heldBytes(): number {
    const tables = this.entries * bytesPerEntry + this.#gaps.length * bytesPerGap;
    return this.#text.length + tables + this.#storedBytes;
  }

  /** Adds the next entry. */
  async append(entry: ListedEntry): Promise<void> {
    const { messageId, body, bodyBytes } = entry;
    const isInText = body.at === 'here' && bodyBytes <= largestInText;
    // Nothing is written before this: an entry whose body cannot be read is not there in part.
    const bytes = isInText ? await loadBody(messageId, body) : undefined;
    const [before, after] = frameOf(sizeOf(entry));
    this.#write(this.entries === 0 ? before : `,${before}`);
    if (bytes === undefined) this.#addGap({ messageId, body, bodyBytes });
    else this.#write(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('base64'));
    this.#write(after);
    this.#ends.push(this.#end);
  }

  /** Counts the bytes of a list of the first entries. */
  bytesOf(entries: number): number {
    const end = this.#ends[entries - 1] ?? '['.length;
    return end + (this.#gapsIn(entries).at(-1)?.filled ?? 0) + ']'.length;
  }

  /** Tells whether an answer of the service can hold the whole list. */
  fitsIntoAnswer(): boolean {
    return fitsIntoAnswer(this.bytesOf(this.entries), this.entries);
  }

  /** Counts the bytes that {@link bodyOf} holds at most beside its result. */
  bytesWhileMaking(entries: number): number {
    return bytesWhileLoading(this.#gapsIn(entries));
  }

  /** Makes the list of the first entries. @throws where a body is not there, or has another size than its entry told */
  async bodyOf(entries: number): Promise<Buffer> {
    const end = this.#ends[entries - 1] ?? '['.length;
    const list = Buffer.allocUnsafe(this.bytesOf(entries));
    let read = 0;
    let written = 0;
    // The text may grow meanwhile, and then is another buffer with the same beginning.
    const copyTo = (to: number): void => {
      written += this.#text.copy(list, written, read, to);
      read = to;
    };
    const gaps = this.#gapsIn(entries);
    let next = 0;
    for await (const { body } of entriesWithBodies(gaps)) {
      copyTo(gaps[next]?.at ?? read);
      next += 1;
      written = writeBase64(list, written, body);
    }
    copyTo(end);
    written += list.write(']', written);
    if (written !== list.length) throw new Error('The bodies of a list have other sizes than their records.');
    return list;
  }

  #gapsIn(entries: number): readonly Gap[] {
    const last = this.#gaps.at(-1);
    if (last === undefined || last.index < entries) return this.#gaps;
    return this.#gaps.filter(({ index }) => index < entries);
  }

  #addGap(entry: Pick<Gap, 'messageId' | 'body' | 'bodyBytes'>): void {
    const filled = (this.#gaps.at(-1)?.filled ?? 0) + base64Length(entry.bodyBytes);
    this.#gaps.push({ ...entry, index: this.entries, at: this.#end, filled });
    if (entry.body.at === 'here') this.#storedBytes += entry.body.bytes.length;
  }

  /** @param text of ASCII */
  #write(text: string): void {
    const end = this.#end + text.length;
    if (end > this.#text.length) {
      const larger = Buffer.allocUnsafe(Math.max(end, Math.ceil(this.#text.length * growth)));
      this.#text.copy(larger, 0, 0, this.#end);
      this.#text = larger;
    }
    this.#end += this.#text.write(text, this.#end, 'latin1');
  }
}
