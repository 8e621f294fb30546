/**
 * The list of a run as text. Each entry is added once. Large bodies are left out (a gap), and read for each
 * delivery that needs them.
 */
import { loadBody } from '../../message/bodies.ts';
import type { StoredBody } from '../../message/message.ts';
import type { ListedEntry } from '../rules/journal.ts';
import { base64Length, frameOf, writeBase64 } from './listBody.ts';
import { bytesWhileLoading, entriesWithBodies, fitsIntoAnswer, sizeOf } from './entryBodies.ts';

const largestInText = 4_096;
const firstBytes = 1_024;
/** A buffer that is full is replaced with one that is larger by this factor. */
const growth = 1.25;
/** Bytes of memory that an entry takes besides its text, and a gap besides its body, approximately. */
const bytesPerEntry = 150;
const bytesPerGap = 300;

interface Gap {
  /** The entry's place in the list, and the text's bytes before the body. */
  readonly index: number;
  readonly at: number;
  readonly messageId: string;
  readonly body: StoredBody;
  readonly bodyBytes: number;
  /** Bytes of the bodies in this gap and in all gaps before it. */
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

  /** Bytes in memory, approximately. */
  get heldBytes(): number {
    const tables = this.entries * bytesPerEntry + this.#gaps.length * bytesPerGap;
    return this.#text.length + tables + this.#storedBytes;
  }

  async append(entry: ListedEntry): Promise<void> {
    const { messageId, body, bodyBytes } = entry;
    const isInText = body.at === 'here' && bodyBytes <= largestInText;
    // Loaded before anything is written, so that an entry with an unreadable body is not added in part.
    const bytes = isInText ? await loadBody(messageId, body) : undefined;
    const [before, after] = frameOf(sizeOf(entry));
    this.#write(this.entries === 0 ? before : `,${before}`);
    if (bytes === undefined) this.#addGap({ messageId, body, bodyBytes });
    else this.#write(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('base64'));
    this.#write(after);
    this.#ends.push(this.#end);
  }

  bytesOf(entries: number): number {
    const end = this.#ends[entries - 1] ?? '['.length;
    return end + (this.#gapsIn(entries).at(-1)?.filled ?? 0) + ']'.length;
  }

  fitsIntoAnswer(): boolean {
    return fitsIntoAnswer(this.bytesOf(this.entries), this.entries);
  }

  /** The most bytes that {@link bodyOf} has in memory besides its result. */
  bytesWhileMaking(entries: number): number {
    return bytesWhileLoading(this.#gapsIn(entries));
  }

  /** @throws if a body is missing, or its size differs from the entry's */
  async bodyOf(entries: number): Promise<Buffer> {
    const end = this.#ends[entries - 1] ?? '['.length;
    const list = Buffer.allocUnsafe(this.bytesOf(entries));
    let read = 0;
    let written = 0;
    // While the text grows, it may move to another buffer that begins with the same bytes.
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

  /** @param text ASCII only */
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
