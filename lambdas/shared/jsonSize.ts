/**
 * Counts the bytes that texts take in JSON, without making it. A control character takes six bytes, or seven
 * in JSON within JSON, so a body of 4 MiB may become 28 MiB.
 */

/** Characters that are escaped with two, such as `\n`. In JSON within JSON, the backslash is doubled. */
const shortEscapes: ReadonlySet<number> = new Set([8, 9, 10, 12, 13]);
const quote = 34;
const backslash = 92;

/**
 * The bytes of a text in `JSON.stringify`, with quotes.
 *
 * @param levels 1 for plain JSON, 2 for JSON within a text of JSON, and so on. The outermost quotes are
 * included
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

/** Whether a surrogate pair begins at an index. Only half of a pair would be escaped. */
function isPair(text: string, index: number): boolean {
  const [high, low] = [text.charCodeAt(index), text.charCodeAt(index + 1)];
  return high <= 0xdbff && low >= 0xdc00 && low <= 0xdfff;
}

/** The bytes of the quotes around a text. Each level adds two, and escapes those of the levels inside it. */
const quotesBytes = (levels: number): number => 2 * (2 ** levels - 1);
