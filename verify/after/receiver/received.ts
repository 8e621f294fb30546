/** A request that the receiver got, as its log has it. */
import * as z from 'zod';

export const received = z.object({
  inbox: z.string(),
  at: z.number(),
  method: z.string(),
  /** The raw path after the inbox and the answer. */
  path: z.string(),
  query: z.string(),
  from: z.string(),
  messageId: z.string(),
  retried: z.number(),
  contentType: z.string(),
  signature: z.string(),
  /** Where the attempt can be completed; empty without deferred completion. */
  completeUrl: z.string(),
  bytes: z.number(),
  sha256: z.string(),
  /** The body, if it is a short text. */
  text: z.string(),
});

export type Received = Readonly<z.output<typeof received>>;
