/**
 * Attributes of several tables. Headers and configuration are lists of pairs, because clients choose the names, and the SDK's
 * `marshall` refuses or loses maps with keys such as `constructor` and `__proto__`.
 */
import * as z from 'zod/mini';
import type { Config } from '../shared/config.ts';

export const bytes = z.custom<Uint8Array>((value) => value instanceof Uint8Array);

export const headerPairs = z.array(z.tuple([z.string(), z.string()]));

/** Reads the pairs of a {@link Config}. */
export const config = z.pipe(
  z.array(z.tuple([z.string(), z.array(z.string())])),
  z.transform((pairs): Config => new Map(pairs)),
);
