/**
 * Whether a text can be stored and sent. JSON can contain half of a surrogate pair, as in `"\ud83d"`, which
 * UTF-8, DynamoDB and SQS do not allow.
 *
 * @param longest characters; those above the first 65,536 of Unicode count as two
 */
export const isText = (text: string, longest: number): boolean =>
  text !== '' && text.length <= longest && text.isWellFormed();

/**
 * Finds the first text that contains half of a surrogate pair.
 *
 * @param value of a known shape, so its depth is limited
 * @returns its path, if any
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

/** Percent-decodes a text. If it is badly encoded, returns it unchanged. */
export function decodedOrAsIs(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch (error) {
    if (error instanceof URIError) return text;
    throw error;
  }
}
