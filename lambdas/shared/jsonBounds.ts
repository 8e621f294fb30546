/**
 * Limits the number of values and the nesting of JSON from outside. The bytes are scanned before they are
 * parsed: parsing 4 MB of `[0,0,…` would take seconds and 400 MB of memory.
 */
export interface JsonBounds {
  /** The number of values and field names. */
  readonly values: number;
  /** The number of levels of nested lists and objects. */
  readonly depth: number;
}

/** Enough for all bodies except lists of messages or ids. */
export const plainBounds: JsonBounds = { values: 10_000, depth: 100 };

const [quote, backslash, comma, colon] = [34, 92, 44, 58];
const [openList, closeList, openObject, closeObject] = [91, 93, 123, 125];

/**
 * Finds the bound that JSON exceeds. Invalid JSON may pass, because the parser refuses it.
 *
 * @param bytes UTF-8, in which no other character contains the bytes of JSON's syntax
 */
export function excessIn(bytes: Uint8Array, { values, depth }: JsonBounds): keyof JsonBounds | undefined {
  let level = 0;
  let count = 1;
  for (let at = 0; at < bytes.length; at += 1) {
    switch (bytes[at] ?? 0) {
      case quote:
        at = endOfText(bytes, at);
        break;
      case comma:
      case colon:
        count += 1;
        if (count > values) return 'values';
        break;
      case openList:
      case openObject:
        level += 1;
        count += 1;
        if (level > depth) return 'depth';
        if (count > values) return 'values';
        break;
      case closeList:
      case closeObject:
        level -= 1;
        break;
    }
  }
  return undefined;
}

/** The index of a text's closing quote; of the last byte if there is none. */
function endOfText(bytes: Uint8Array, from: number): number {
  let end = bytes.indexOf(quote, from + 1);
  while (end !== -1 && isEscaped(bytes, end, from)) end = bytes.indexOf(quote, end + 1);
  return end === -1 ? bytes.length : end;
}

/** Whether a byte follows an odd number of backslashes. */
function isEscaped(bytes: Uint8Array, at: number, from: number): boolean {
  let first = at;
  while (first - 1 > from && bytes[first - 1] === backslash) first -= 1;
  return (at - first) % 2 === 1;
}
