/**
 * The body of a delivery: its entries as a JSON array of `{"messageId","body","callType"}`, bodies in base64. It is written
 * exactly as `JSON.stringify` writes it, because frameworks parse and rewrite a body before its signature is checked.
 */
import type { Entry } from '../rules/entry.ts';
import type { Features } from '../rules/features.ts';

/** An entry whose body may not be loaded yet: its length is known. */
type Sized = Omit<Entry, 'body'> & { readonly body: Pick<Uint8Array, 'length'> };

/** The text around an entry's body in base64, which has no character that JSON escapes. */
const frameOf = ({ messageId, callType }: Sized): readonly [before: string, after: string] => [
  `{"messageId":${JSON.stringify(messageId)},"body":"`,
  `","callType":${JSON.stringify(callType)}}`,
];

const base64Length = (bytes: number): number => 4 * Math.ceil(bytes / 3);

/** Counts the bytes of a list without making it. */
export function listBytes(entries: readonly Sized[]): number {
  const separators = Math.max(0, entries.length - 1);
  return entries.reduce((total, entry) => {
    const [before, after] = frameOf(entry);
    return total + Buffer.byteLength(before) + base64Length(entry.body.length) + Buffer.byteLength(after);
  }, '[]'.length + separators);
}

/** Bytes that are encoded at a time: a multiple of three, so that padding comes at the end only. */
const sliceBytes = 48 * 1_024;

/** Writes a list, one entry after the other: each body is encoded in slices, directly into the result. */
export class ListWriter {
  readonly #list: Buffer;
  #end: number;
  #isFirst = true;

  /** @param entries all of the list, in order */
  constructor(entries: readonly Sized[]) {
    this.#list = Buffer.allocUnsafe(listBytes(entries));
    this.#end = this.#list.write('[');
  }

  add(entry: Entry): void {
    const [before, after] = frameOf(entry);
    const body = Buffer.from(entry.body.buffer, entry.body.byteOffset, entry.body.length);
    this.#write(this.#isFirst ? before : `,${before}`);
    this.#isFirst = false;
    for (let start = 0; start < body.length; start += sliceBytes) {
      this.#write(body.toString('base64', start, Math.min(start + sliceBytes, body.length)));
    }
    this.#write(after);
  }

  /** Ends the list. @throws where its bodies have other sizes than their entries told */
  end(): Buffer {
    this.#write(']');
    if (this.#end !== this.#list.length)
      throw new Error('The bodies of a list have other sizes than their records.');
    return this.#list;
  }

  /** @param text of ASCII */
  #write(text: string): void {
    this.#end += this.#list.write(text, this.#end, 'latin1');
  }
}

/** Writes the list of entries whose bodies are all in memory. */
export function listBody(entries: readonly Entry[]): Buffer {
  const list = new ListWriter(entries);
  for (const entry of entries) list.add(entry);
  return list.end();
}

/** Bytes of JSON from which on the client reads the list itself. */
const lazyFromBytes = 3 * 1_024 * 1_024;

/**
 * Whether a list is delivered as an empty body, upon which the client reads the list from the service. Each client of unknown
 * version that the service supports can do so. Results of calls and failure requests are never empty: the client reads them first.
 *
 * @param bytes of the list
 */
export const isLazy = (
  bytes: number,
  run: { readonly features: Features; readonly isUnknownClient: boolean },
): boolean => bytes > lazyFromBytes && (run.isUnknownClient || run.features.has('LazyFetch'));
