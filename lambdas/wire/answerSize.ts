/**
 * The size of answers. A function returns JSON in which the body is a string, so each quote and backslash of
 * a JSON body is escaped again. Base64 needs no escapes, but is a third longer.
 */

/**
 * The most bytes of JSON that Lambda accepts from a function: "Response payload size exceeded maximum allowed
 * payload size (6291556 bytes)".
 */
export const largestPayload = 6_291_556;

/** Room for the status and the headers, in bytes. API Gateway allows 10,240. */
const headRoom = 20_000;

export const largestText = largestPayload - headRoom;

/** Bytes of JSON that always fit into an answer, because base64 is a third longer. */
export const largestAnswer = Math.floor(largestText / 4) * 3;

export const jsonBytes = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));

/** A text of this length always fits, because a character takes at most six bytes. */
const alwaysFits = Math.floor(largestText / 6);

interface Encoded {
  readonly isBase64: boolean;
  readonly bytes: number;
}

export function encodingOf(text: string): Encoded {
  if (text.length <= alwaysFits) return { isBase64: false, bytes: Buffer.byteLength(JSON.stringify(text)) };
  const base64 = Math.ceil(Buffer.byteLength(text) / 3) * 4;
  const plain = Buffer.byteLength(JSON.stringify(text));
  return base64 < plain ? { isBase64: true, bytes: base64 } : { isBase64: false, bytes: plain };
}

const fitsIntoAnswer = (value: unknown): boolean => encodingOf(JSON.stringify(value)).bytes <= largestText;

/** How bytes are shown: as text if they are UTF-8, or all in base64. */
export type ShownAs = 'text' | 'base64';

/** Makes a record with its bodies as text, or in base64 if text would be too long for an answer. */
export function fitting<T>(record: (bodies: ShownAs) => T): T {
  const readable = record('text');
  return fitsIntoAnswer(readable) ? readable : record('base64');
}
