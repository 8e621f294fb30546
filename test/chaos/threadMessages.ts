/** The messages between a function's thread and its parent. */
import * as z from 'zod/mini';

export const toThread = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('invoke'), number: z.number(), event: z.unknown() }),
  z.object({ kind: z.literal('measure') }),
]);
export type ToThread = z.infer<typeof toThread>;

const threadMeasure = z.object({
  /** The used part of its heap. */
  heapMb: z.number(),
  /** The heap's size in the process's memory. */
  heapTotalMb: z.number(),
  /** Its connections to AWS, including idle ones. */
  connections: z.number(),
});
export type ThreadMeasure = z.infer<typeof threadMeasure>;

export const fromThread = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('answered'),
    number: z.number(),
    result: z.optional(z.unknown()),
    error: z.optional(z.string()),
  }),
  z.object({ kind: z.literal('measured'), measure: threadMeasure }),
]);
export type FromThread = z.infer<typeof fromThread>;
