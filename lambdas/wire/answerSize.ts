/**
 * The size of answers. A function returns JSON, in which the body is a string that is JSON again: each of its quotes and
 * backslashes is escaped once more. A body in base64 has nothing to escape, but is longer by a third.
 */

/** Bytes of JSON that Lambda takes from a function: "Response payload size exceeded maximum allowed payload size (6291556 bytes)". */
export const largestPayload = 6_291_556;

/** Bytes of a payload that are left for the status and the headers. API Gateway takes 10,240 of these. */
const headRoom = 20_000;

/** Bytes that the text of an answer may have as a string of JSON, or as base64. */
export const largestText = largestPayload - headRoom;

/** Bytes of JSON that fit into an answer in any case: in base64 they become four thirds of that. */
export const largestAnswer = Math.floor(largestText / 4) * 3;

export const jsonBytes = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));

/** A text of this many characters always fits: a character takes at most six bytes of the payload. */
const alwaysFits = Math.floor(largestText / 6);

interface Encoded {
  readonly isBase64: boolean;
  /** The bytes that the text takes in the payload. */
  readonly bytes: number;
}

/** Finds the shorter of the two ways to return a text. */
export function encodingOf(text: string): Encoded {
  if (text.length <= alwaysFits) return { isBase64: false, bytes: Buffer.byteLength(JSON.stringify(text)) };
  const base64 = Math.ceil(Buffer.byteLength(text) / 3) * 4;
  const plain = Buffer.byteLength(JSON.stringify(text));
  return base64 < plain ? { isBase64: true, bytes: base64 } : { isBase64: false, bytes: plain };
}

const fitsIntoAnswer = (value: unknown): boolean => encodingOf(JSON.stringify(value)).bytes <= largestText;

/** The way in which bytes are shown: as text where they are UTF-8 text, or all in base64. */
export type ShownAs = 'text' | 'base64';

/** Makes a record with its bodies as text, or in base64 where it would be too long for an answer otherwise. */
export function fitting<T>(record: (bodies: ShownAs) => T): T {
  const readable = record('text');
  return fitsIntoAnswer(readable) ? readable : record('base64');
}
