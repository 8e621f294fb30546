/** The messages between a measuring process and its parent. */
import { readFileSync } from 'node:fs';
import * as z from 'zod/mini';

/** A bundle's `index.mjs` as a URL. */
const bundle = z.url();

export const importTask = z.object({ bundle });
export const importResult = z.object({
  wallMs: z.number(),
  cpuMs: z.number(),
});

/** The handler of one bundle is called with these, one after the other; a process does many such tasks. */
export const invokeTask = z.object({ events: z.array(z.unknown()) });
export const invokeResult = z.object({
  /** CPU milliseconds of all the events, in user and system mode, of all threads. */
  cpuMs: z.number(),
  /** The most memory that the process has had since its start; MB. */
  peakMb: z.number(),
});

/** CPU milliseconds that this process has taken since a moment. */
export function cpuMsSince(start: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(start);
  return (user + system) / 1000;
}

/**
 * The most memory that this process has had; MB. Linux counts it from the start of the program, whereas `maxRSS` begins with what
 * the parent had.
 */
export function peakMb(): number {
  if (process.platform !== 'linux') return process.resourceUsage().maxRSS / 1_024;
  const [, kilobytes = ''] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8')) ?? [];
  return Number(kilobytes) / 1_024;
}

/** The process with BullMQ takes messages on this port. */
export const bullmqReady = z.object({ port: z.int() });

/** Ends this process with an error. Left to itself, Node.js would print the line of the bundle as well: most of the bundle. */
export function fail(error: unknown): never {
  console.error(error);
  process.exit(1);
}
