/** The messages that the run and its stage send each other. */
import * as z from 'zod/mini';

export interface StageInit {
  readonly seed: number;
  readonly generation: number;
  readonly port: number;
  readonly dataDirectory: string;
  /** Milliseconds by which its clock is ahead of the true time when it starts. */
  readonly aheadMs: number;
  /** The bundle of `functionThread.ts`. */
  readonly threadFile: string;
}

const measure = z.object({
  heapMb: z.number(),
  rssMb: z.number(),
  /** Of `rssMb`, what is in no heap of this process or a thread: code, stacks, buffers, and what `malloc` keeps. */
  outsideMb: z.number(),
  /** Those of `connections` not counted. */
  descriptors: z.number(),
  /**
   * Of functions and of the stage itself to the fault proxies, and of those to the stand-ins for AWS. Each has two descriptors: both of
   * its ends are in this process.
   */
  connections: z.number(),
  /** The most that one function has. */
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

/** Goes from the run to its stage. A stage that is to lose its power dies in the middle of one of its next writes. */
export type ToStage = 'storm' | 'calm' | 'measure' | 'lose power';
