/** Truncates a body without splitting a UTF-8 character. */
export function beginningOf(body: Uint8Array, most: number): Uint8Array {
  if (body.length <= most) return body;
  let end = most;
  // The second and later bytes of a character begin with the bits 10. There are at most three.
  while (end > Math.max(0, most - 3) && ((body[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return body.subarray(0, end);
}
