/** The messages that a function's thread and its parent send each other. */
import * as z from 'zod/mini';

export const toThread = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('invoke'), number: z.number(), event: z.unknown() }),
  z.object({ kind: z.literal('measure') }),
]);
export type ToThread = z.infer<typeof toThread>;

const threadMeasure = z.object({
  /** What is in use of its heap. */
  heapMb: z.number(),
  /** What its heap takes of the process's memory: more than is in use. */
  heapTotalMb: z.number(),
  /** Its connections to AWS, idle ones included. */
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
