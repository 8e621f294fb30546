/**
 * Headers and configuration as rows have them: lists of pairs. Their names come from outside, and the SDK's `marshall`
 * refuses maps with keys such as `constructor` and `__proto__`, or loses them.
 */
import * as z from 'zod/mini';

export const headerPairs = z.array(z.tuple([z.string(), z.string()]));

/** A `Config`, as `[...config]` makes it. */
export const configPairs = z.array(z.tuple([z.string(), z.array(z.string())]));
