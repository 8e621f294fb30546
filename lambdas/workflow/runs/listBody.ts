/**
 * The body of a delivery: a JSON array of `{"messageId","body","callType"}`, bodies in base64. It equals the
 * output of `JSON.stringify`, because frameworks parse a body and write it again before they check its
 * signature.
 */
import type { Entry } from '../rules/entry.ts';
import type { Features } from '../rules/features.ts';

/** An entry of known length. Its body may not be loaded yet. */
type Sized = Omit<Entry, 'body'> & { readonly body: Pick<Uint8Array, 'length'> };

/** The text around an entry's body. Base64 needs no escapes in JSON. */
export const frameOf = ({ messageId }: Sized): readonly [before: string, after: string] => [
  `{"messageId":${JSON.stringify(messageId)},"body":"`,
  // The list has no messages of another type.
  '","callType":"step"}',
];

export const base64Length = (bytes: number): number => 4 * Math.ceil(bytes / 3);

export function listBytes(entries: readonly Sized[]): number {
  const separators = Math.max(0, entries.length - 1);
  return entries.reduce((total, entry) => {
    const [before, after] = frameOf(entry);
    return total + Buffer.byteLength(before) + base64Length(entry.body.length) + Buffer.byteLength(after);
  }, '[]'.length + separators);
}

const sliceBytes = 48 * 1_024;

/** Writes a body in base64 directly into its place. @returns the end of the written text */
export function writeBase64(into: Buffer, at: number, { buffer, byteOffset, length }: Uint8Array): number {
  const body = Buffer.from(buffer, byteOffset, length);
  let end = at;
  for (let start = 0; start < length; start += sliceBytes) {
    const slice = body.toString('base64', start, Math.min(start + sliceBytes, length));
    end += into.write(slice, end, 'latin1');
  }
  return end;
}

/** @param entries with all bodies in memory */
export function listBody(entries: readonly Entry[]): Buffer {
  const list = Buffer.allocUnsafe(listBytes(entries));
  let end = list.write('[');
  for (const [index, entry] of entries.entries()) {
    const [before, after] = frameOf(entry);
    end += list.write(index === 0 ? before : `,${before}`, end, 'latin1');
    end = writeBase64(list, end, entry.body);
    end += list.write(after, end, 'latin1');
  }
  list.write(']', end);
  return list;
}

/** If a list's JSON has this many bytes or more, the client reads the list itself. */
const lazyFromBytes = 3 * 1_024 * 1_024;

/**
 * Whether a list is delivered as an empty body, so that the client reads the list from the service. Clients
 * of unknown version can do so, too. Results of calls and failure requests always have a body, because the
 * client reads it first.
 *
 * @param bytes of the list
 */
export const isLazy = (
  bytes: number,
  run: { readonly features: Features; readonly isUnknownClient: boolean },
): boolean => bytes > lazyFromBytes && (run.isUnknownClient || run.features.has('LazyFetch'));
