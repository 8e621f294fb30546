/** A process that loads one bundle, as a cold start does, and reports the time. */
import type * as z from 'zod/mini';
import { cpuMsSince, fail, importTask, type importResult } from './protocol.ts';

async function measureImport(bundle: string): Promise<z.infer<typeof importResult>> {
  const cpu = process.cpuUsage();
  const start = performance.now();
  await import(bundle);
  return { wallMs: performance.now() - start, cpuMs: cpuMsSince(cpu) };
}

process.once('message', (message) => {
  measureImport(importTask.parse(message).bundle).then(
    (result) => process.send?.(result, () => process.exit()),
    fail,
  );
});
