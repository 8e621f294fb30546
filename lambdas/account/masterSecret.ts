/**
 * The master secret in Secrets Manager: a text; or after a rotation, JSON with the current secret, the
 * previous one during the overlap, and the marks of earlier ones.
 */
import * as z from 'zod/mini';
import { secretMark, type MasterSecret } from './credentials.ts';

const key = z.string().check(z.minLength(32));
const shape = z.object({
  current: key,
  previous: z.optional(key),
  retired: z._default(z.array(z.string()), []),
});

/** @returns undefined if a secret is not JSON. An error of JSON.parse would quote the secret */
export function parseSecretJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** @throws Error, which does not quote the text */
export function parseMasterSecret(text: string): MasterSecret {
  const read = shape.safeParse(/^\{\s*"/.test(text) ? parseSecretJson(text) : { current: text });
  if (read.success) return read.data;
  throw new Error(
    'The master secret must be a text of at least 32 characters, or {"current", "previous", "retired"} of such texts.',
  );
}

/**
 * Begins a rotation. The old master secret stays valid during the overlap.
 *
 * @throws Error if the previous overlap has not ended
 */
export function begin({ current, previous, retired }: MasterSecret, next: string): MasterSecret {
  if (previous !== undefined) throw new Error('The overlap before is not over yet; end it first.');
  return { current: next, previous: current, retired };
}

/**
 * Ends the overlap. Tokens from the old master secret are then refused.
 *
 * @throws Error if there is no overlap
 */
export function end({ current, previous, retired = [] }: MasterSecret): MasterSecret {
  if (previous === undefined) throw new Error('There is no overlap to end; begin one first.');
  return { current, retired: [...retired, secretMark(previous)] };
}
