/**
 * Counts the bytes of texts in JSON, without making the JSON. A control character takes six bytes, and seven where the JSON stands in another text
 * of JSON, so that a body of 4 MiB may become 28 MiB.
 */

/** Code units that are escaped as two characters, such as `\n`; each further level doubles the backslash. */
const shortEscapes: ReadonlySet<number> = new Set([8, 9, 10, 12, 13]);
const quote = 34;
const backslash = 92;

/**
 * Counts the bytes of a text as `JSON.stringify` writes it, quotes included.
 *
 * @param levels how often it is written: 2 for the JSON of a text that is the JSON of this one. The outer levels' own quotes are
 * counted, too
 */
export function jsonTextBytes(text: string, levels = 1): number {
  const backslashes = 2 ** (levels - 1);
  let bytes = quotesBytes(levels);
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index);
    if (unit === quote || unit === backslash) bytes += 2 * backslashes;
    else if (unit < 0x20) bytes += backslashes + (shortEscapes.has(unit) ? 1 : 5);
    else if (unit < 0x80) bytes += 1;
    else if (unit < 0x800) bytes += 2;
    else if (unit < 0xd800 || unit > 0xdfff) bytes += 3;
    else if (isPair(text, index)) {
      bytes += 4;
      index += 1;
    } else bytes += backslashes + 5;
  }
  return bytes;
}

/** Whether a whole character of two units stands at an index: it is not escaped, half of one is. */
function isPair(text: string, index: number): boolean {
  const [high, low] = [text.charCodeAt(index), text.charCodeAt(index + 1)];
  return high <= 0xdbff && low >= 0xdc00 && low <= 0xdfff;
}

/** Two quotes at each level; those of the inner levels are escaped by the outer ones. */
const quotesBytes = (levels: number): number => 2 * (2 ** levels - 1);
