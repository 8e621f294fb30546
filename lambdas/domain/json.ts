import type * as z from 'zod/mini';
import { badRequest } from './httpError.ts';

/**
 * Reads JSON that a client sent.
 *
 * @param field what the error's text calls it
 * @throws HttpError 400
 */
export function parseJson(field: string, bytes: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(bytes).toString('utf8'));
  } catch {
    throw badRequest(`${field} is not JSON.`);
  }
}

/**
 * Reads JSON of a shape.
 *
 * @param allowed what the shape is, in words
 * @throws HttpError 400 that names the first field that is wrong
 */
export function parseShape<T>(field: string, bytes: Uint8Array, shape: z.ZodMiniType<T>, allowed: string): T {
  const read = shape.safeParse(parseJson(field, bytes));
  if (read.success) return read.data;
  const [issue] = read.error.issues;
  const path = issue?.code === 'unrecognized_keys' ? [...issue.path, ...issue.keys.slice(0, 1)] : issue?.path;
  const where = path === undefined || path.length === 0 ? field : path.join('.');
  throw badRequest(`${where}: ${issue?.message ?? 'it is malformed'}; allowed is ${allowed}.`);
}
