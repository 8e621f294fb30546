import * as z from 'zod/mini';

/** The line of JSON that tells of one operation. */
export const resultShape = z.object({
  operation: z.string(),
  outcome: z.enum(['passed', 'refused', 'not offered', 'failed']),
  /** Of a refusal and a failure. */
  reason: z.optional(z.string()),
});
export type Result = z.infer<typeof resultShape>;
