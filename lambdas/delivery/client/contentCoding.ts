/**
 * Decodes compressed answers. The service does not ask for compression, but some APIs always compress, and
 * the bytes would be useless in logs, callbacks and step results.
 */
import {
  constants,
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createInflateRaw,
  type BrotliOptions,
  type ZlibOptions,
} from 'node:zlib';
import type { Transform } from 'node:stream';
import { valuesOf } from '../../shared/headers.ts';
import type { DestinationResponse } from '../../destination/response.ts';

/** How many codings of one answer are decoded; curl accepts as many. */
const mostCodings = 5;

const chunkSize = 65_536;

/** @param isBeginning whether the rest of the answer was not read, so that a missing end is no error */
type MakeDecoder = (isBeginning: boolean) => Transform;

const zlibOptions = (isBeginning: boolean): ZlibOptions => ({
  chunkSize,
  finishFlush: isBeginning ? constants.Z_SYNC_FLUSH : constants.Z_FINISH,
});
const brotliOptions = (isBeginning: boolean): BrotliOptions => ({
  chunkSize,
  finishFlush: isBeginning ? constants.BROTLI_OPERATION_FLUSH : constants.BROTLI_OPERATION_FINISH,
});

const gunzip: MakeDecoder = (isBeginning) => createGunzip(zlibOptions(isBeginning));

/** The decoders of a coding (RFC 9110, 8.4.1), in the order in which they are tried. */
const decodersOf: ReadonlyMap<string, readonly MakeDecoder[]> = new Map([
  ['gzip', [gunzip]],
  ['x-gzip', [gunzip]],
  // Some servers omit the zlib frame. Browsers accept both forms.
  [
    'deflate',
    [
      (isBeginning) => createInflate(zlibOptions(isBeginning)),
      (isBeginning) => createInflateRaw(zlibOptions(isBeginning)),
    ],
  ],
  ['br', [(isBeginning) => createBrotliDecompress(brotliOptions(isBeginning))]],
]);

interface Decoded {
  readonly body: Uint8Array;
  readonly isCut: boolean;
}

/** @returns undefined if the bytes are not encoded in this way */
async function decodeWith(
  decoder: Transform,
  bytes: Uint8Array,
  maxBytes: number,
): Promise<Decoded | undefined> {
  const pieces: Buffer[] = [];
  let size = 0;
  decoder.end(bytes);
  try {
    const decoded: AsyncIterable<Buffer> = decoder;
    for await (const piece of decoded) {
      pieces.push(piece);
      size += piece.length;
      if (size > maxBytes) break;
    }
  } catch {
    return undefined;
  }
  return { body: Buffer.concat(pieces, Math.min(size, maxBytes)), isCut: size > maxBytes };
}

async function decode(
  coding: string,
  { body, isCut }: Decoded,
  maxBytes: number,
): Promise<Decoded | undefined> {
  for (const makeDecoder of decodersOf.get(coding) ?? []) {
    const decoded = await decodeWith(makeDecoder(isCut), body, maxBytes);
    if (decoded !== undefined) return { ...decoded, isCut: isCut || decoded.isCut };
  }
  return undefined;
}

/**
 * Decodes an answer by its `Content-Encoding`. An answer that cannot be decoded is unchanged.
 *
 * @param maxBytes of the decoded body; the rest is cut off
 */
export async function decodeAnswer(
  answer: DestinationResponse,
  maxBytes: number,
): Promise<DestinationResponse> {
  const codings = valuesOf(answer.headers, 'content-encoding')
    .flatMap((value) => value.split(','))
    .map((coding) => coding.trim().toLowerCase())
    .filter((coding) => coding !== '' && coding !== 'identity');
  if (codings.length > mostCodings) return answer;
  let decoded: Decoded = { body: answer.body, isCut: answer.isCut === true };
  // The header lists codings in the order in which they were applied, so the last is decoded first.
  for (const coding of codings.toReversed()) {
    const next = await decode(coding, decoded, maxBytes);
    if (next === undefined) return answer;
    decoded = next;
  }
  return { ...answer, body: decoded.body, isCut: decoded.isCut || undefined };
}
