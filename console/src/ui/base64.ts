/** Bytes in base64, the API's form of bytes that are no text. */

export const bytesOf = (base64: string): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));

/** Decodes bytes as UTF-8; undefined when they are no text. */
export function textOf(base64: string): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytesOf(base64));
  } catch {
    return undefined;
  }
}

/** The base64 of a text in UTF-8. */
export const base64Of = (text: string): string => {
  // In parts: a function does not take a million arguments.
  let letters = '';
  for (const byte of new TextEncoder().encode(text)) letters += String.fromCharCode(byte);
  return btoa(letters);
};
