import * as z from 'zod/mini';

/** The line of JSON about one operation. */
export const resultShape = z.object({
  operation: z.string(),
  /** `skipped`: it would change more of the account at `--url` than its own messages. */
  outcome: z.enum(['passed', 'refused', 'not offered', 'skipped', 'failed']),
  /** Why it was refused, skipped or failed, or the name that the version does not declare. */
  reason: z.optional(z.string()),
});
export type Result = z.infer<typeof resultShape>;
