/** The messages between a measuring process and its parent. */
import { readFileSync } from 'node:fs';
import * as z from 'zod/mini';

/** The URL of a bundle's `index.mjs`. */
const bundle = z.url();

export const importTask = z.object({ bundle });
export const importResult = z.object({
  wallMs: z.number(),
  cpuMs: z.number(),
});

/** The handler is called with each event in turn. A process does many such tasks. */
export const invokeTask = z.object({ events: z.array(z.unknown()) });
export const invokeResult = z.object({
  /** CPU milliseconds for all events, in user and system mode, of all threads. */
  cpuMs: z.number(),
  /** The process's peak memory since its start, in MB. */
  peakMb: z.number(),
});

export function cpuMsSince(start: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(start);
  return (user + system) / 1000;
}

/** This process's peak memory, in MB. On Linux it excludes the parent's, unlike `maxRSS`. */
export function peakMb(): number {
  if (process.platform !== 'linux') return process.resourceUsage().maxRSS / 1_024;
  const [, kilobytes = ''] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8')) ?? [];
  return Number(kilobytes) / 1_024;
}

/** The port on which the BullMQ process accepts messages. */
export const bullmqReady = z.object({ port: z.int() });

/** Ends this process with an error. Node.js would also print the error's line, which is most of the bundle. */
export function fail(error: unknown): never {
  console.error(error);
  process.exit(1);
}
