/** A process that loads one bundle, as a cold start does, and says how long that took. */
import { cpuMsSince, importTask, onTask, type importResult } from './protocol.ts';
import type * as z from 'zod/mini';

onTask(importTask, async ({ bundle }): Promise<z.infer<typeof importResult>> => {
  const cpu = process.cpuUsage();
  const start = performance.now();
  await import(bundle);
  return { wallMs: performance.now() - start, cpuMs: cpuMsSince(cpu) };
});
