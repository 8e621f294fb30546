/**
 * The `aws-chunked` content encoding, in which the AWS SDK sends bodies whose checksum follows them: chunks
 * behind their length in hexadecimal, an empty chunk, and trailing headers.
 */

export interface Unchunked {
  readonly body: Buffer;
  /** Names in lower case. */
  readonly trailers: ReadonlyMap<string, string>;
}

/** @returns undefined when the bytes are not of this form */
export function unchunk(bytes: Buffer): Unchunked | undefined {
  const chunks: Buffer[] = [];
  for (let at = 0; ;) {
    const lineEnd = bytes.indexOf('\r\n', at);
    if (lineEnd < 0) return undefined;
    // An extension, such as a chunk's signature, may follow the length.
    const [length = ''] = bytes.toString('latin1', at, lineEnd).split(';');
    if (!/^[0-9a-f]+$/i.test(length)) return undefined;
    const size = parseInt(length, 16);
    const start = lineEnd + 2;
    if (size === 0)
      return { body: Buffer.concat(chunks), trailers: trailersIn(bytes.toString('latin1', start)) };
    if (start + size > bytes.length) return undefined;
    chunks.push(bytes.subarray(start, start + size));
    at = start + size + 2;
  }
}

function trailersIn(text: string): Map<string, string> {
  const lines = text.split('\r\n').filter((line) => line.includes(':'));
  return new Map(
    lines.map((line) => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon).trim().toLowerCase(), line.slice(colon + 1).trim()];
    }),
  );
}
