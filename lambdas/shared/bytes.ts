/** Cuts a body to its first bytes. A character of UTF-8 is not cut in two, so that a text stays a text. */
export function beginningOf(body: Uint8Array, most: number): Uint8Array {
  if (body.length <= most) return body;
  let end = most;
  // Bytes that continue a character begin with the bits 10; there are at most three.
  while (end > Math.max(0, most - 3) && ((body[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return body.subarray(0, end);
}
