/** The messages between the run and the processes of its stage. */
import * as z from 'zod/mini';

const init = z.object({
  kind: z.literal('init'),
  seed: z.number(),
  /** The process’s number. Each has another plan. */
  number: z.number(),
  processes: z.number(),
  port: z.number(),
  dataDirectory: z.string(),
  /** Milliseconds by which its clock is ahead of real time at the start. */
  aheadMs: z.number(),
  isStormy: z.boolean(),
  threadFile: z.string(),
});

/** Sent from the run to each process. */
export const toStage = z.discriminatedUnion('kind', [
  init,
  z.object({ kind: z.literal('storm') }),
  z.object({ kind: z.literal('calm') }),
  z.object({ kind: z.literal('measure') }),
  z.object({ kind: z.literal('clock'), aheadMs: z.number() }),
  /** Waits until the jobs that are due are done or given up. */
  z.object({ kind: z.literal('settle') }),
  /** The process, and all others with it, dies during one of its next writes. */
  z.object({ kind: z.literal('lose power') }),
]);
export type ToStage = z.infer<typeof toStage>;

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

export const toRun = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('hello'), pid: z.number(), isMember: z.boolean() }),
  z.object({ kind: z.literal('ready'), variables: z.record(z.string(), z.string()) }),
  z.object({ kind: z.literal('moved') }),
  /** `next`: when the next job or schedule is due, if any. */
  z.object({ kind: z.literal('settled'), next: z.nullable(z.number()) }),
  z.object({
    kind: z.literal('measured'),
    measure,
    faults: z.record(z.string(), z.number()),
  }),
]);
export type ToRun = z.infer<typeof toRun>;
