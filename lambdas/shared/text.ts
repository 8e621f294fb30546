/**
 * Tells whether a text can be stored and sent as it is: JSON may have halves of characters (lone surrogates), as in `"\ud83d"`,
 * which UTF-8 does not have, and which DynamoDB and SQS refuse.
 *
 * @param longest the most characters; each counts one, or two where it is beyond the first 65,536 of Unicode
 */
export const isText = (text: string, longest: number): boolean =>
  text !== '' && text.length <= longest && text.isWellFormed();

/**
 * Finds the first text in a value that has half a character.
 *
 * @param value of a known shape, so that it is not nested deeply
 * @returns the path to it; undefined where there is none
 */
export function malformedTextIn(value: unknown): readonly string[] | undefined {
  if (typeof value === 'string') return value.isWellFormed() ? undefined : [];
  if (typeof value !== 'object' || value === null) return undefined;
  for (const [name, inner] of Object.entries(value)) {
    const path = malformedTextIn(inner);
    if (path !== undefined) return [name, ...path];
  }
  return undefined;
}

/** Percent-decodes a text; a text that is not well encoded is returned as it is. */
export function decodedOrAsIs(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch (error) {
    if (error instanceof URIError) return text;
    throw error;
  }
}
