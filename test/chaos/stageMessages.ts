/** The messages between the run and its stage. */
import * as z from 'zod/mini';

export interface StageInit {
  readonly seed: number;
  readonly generation: number;
  readonly port: number;
  readonly dataDirectory: string;
  /** Milliseconds by which its clock is ahead of real time at the start. */
  readonly aheadMs: number;
  readonly threadFile: string;
}

const measure = z.object({
  heapMb: z.number(),
  rssMb: z.number(),
  /** The part of `rssMb` outside all heaps: code, stacks, buffers, and what `malloc` keeps. */
  outsideMb: z.number(),
  /** Without those of `connections`. */
  descriptors: z.number(),
  /**
   * From the functions and the stage to the fault proxies, and from those to the stand-ins for AWS. Each has two descriptors,
   * because both ends are in this process.
   */
  connections: z.number(),
  /** The most of one function. */
  threadConnections: z.number(),
  threads: z.number(),
  /** The largest heap of a function's thread. */
  threadHeapMb: z.number(),
});
export type Measure = z.infer<typeof measure>;

export const toParent = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('ready'), variables: z.record(z.string(), z.string()) }),
  z.object({
    kind: z.literal('measured'),
    measure,
    faults: z.record(z.string(), z.number()),
  }),
]);
export type ToParent = z.infer<typeof toParent>;

/** Sent from the run to its stage. `lose power`: the stage dies during one of its next writes. */
export type ToStage = 'storm' | 'calm' | 'measure' | 'lose power';
