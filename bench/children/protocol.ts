/** The messages between a measuring process and its parent. */
import * as z from 'zod/mini';

/** The time in which the process has loaded its bundle, and the CPU milliseconds of all threads. */
export const loaded = z.object({ wallMs: z.number(), cpuMs: z.number() });

export const invokeTask = z.object({ events: z.array(z.unknown()) });
export const invoked = z.object({
  /** CPU milliseconds for all events, in user and system mode, of all threads. */
  cpuMs: z.number(),
  /** The process's peak memory since its start, in MB. */
  peakMb: z.number(),
});

export const bullmqReady = z.object({ port: z.int() });

/** Ends this process with an error. Node.js would also print the error's line, which is most of the bundle. */
export function fail(error: unknown): never {
  console.error(error);
  process.exit(1);
}
