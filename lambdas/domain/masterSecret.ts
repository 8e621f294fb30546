/**
 * The deployment's master secret as it is kept: one text, or while one follows another, both, with the marks of those that
 * came before.
 */
import * as z from 'zod/mini';
import { secretMark, type MasterSecret } from './credentials.ts';

const key = z.string().check(z.minLength(32));
const shape = z.object({
  current: key,
  previous: z.optional(key),
  retired: z._default(z.array(z.string()), []),
});

/** Reads what an operator wrote, of which no error may quote anything. */
export function parseSecretJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** @throws Error that tells nothing of the text */
export function parseMasterSecret(text: string): MasterSecret {
  const read = shape.safeParse(/^\{\s*"/.test(text) ? parseSecretJson(text) : { current: text });
  if (read.success) return read.data;
  throw new Error(
    'The master secret must be a text of at least 32 characters, or {"current", "previous", "retired"} of such texts.',
  );
}

/**
 * Lets a new master secret follow with an overlap, in which the old one is good as well.
 *
 * @throws Error when an overlap is not over yet
 */
export function begin({ current, previous, retired }: MasterSecret, next: string): MasterSecret {
  if (previous !== undefined) throw new Error('The overlap before is not over yet; end it first.');
  return { current: next, previous: current, retired };
}

/**
 * Ends the overlap: what was derived from the old master secret is good no more.
 *
 * @throws Error when there is none
 */
export function end({ current, previous, retired = [] }: MasterSecret): MasterSecret {
  if (previous === undefined) throw new Error('There is no overlap to end; begin one first.');
  return { current, retired: [...retired, secretMark(previous)] };
}
