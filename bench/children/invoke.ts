/**
 * A process that loads the bundle that its argument names, as a cold start does, reports the time, and then only calls the
 * handler, one event after another, as Lambda does.
 */
import { readFileSync } from 'node:fs';
import * as z from 'zod/mini';
import { checkAnswer } from '../answer.ts';
import { fail, invokeTask, type invoked, type loaded } from './protocol.ts';

const module = z.object({ handler: z.custom<(event: unknown, context: object) => Promise<unknown>>() });

const [bundle = ''] = process.argv.slice(2);

function cpuMsSince(start: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(start);
  return (user + system) / 1000;
}

/** This process's peak memory, in MB. On Linux it excludes the parent's, unlike `maxRSS`. */
function peakMb(): number {
  if (process.platform !== 'linux') return process.resourceUsage().maxRSS / 1_024;
  const [, kilobytes = ''] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8')) ?? [];
  return Number(kilobytes) / 1_024;
}

async function load() {
  const cpu = process.cpuUsage();
  const start = performance.now();
  const { handler } = module.parse(await import(bundle));
  const result: z.infer<typeof loaded> = { wallMs: performance.now() - start, cpuMs: cpuMsSince(cpu) };
  process.send?.(result);
  return handler;
}
const loading = load();

async function invokeAll(events: readonly unknown[]): Promise<z.infer<typeof invoked>> {
  const handler = await loading;
  const answers: unknown[] = [];
  const cpu = process.cpuUsage();
  for (const event of events) {
    answers.push(await handler(event, { awsRequestId: 'bench', getRemainingTimeInMillis: () => 30_000 }));
  }
  const cpuMs = cpuMsSince(cpu);
  answers.forEach(checkAnswer);
  return { cpuMs, peakMb: peakMb() };
}

loading.catch(fail);
process.on('message', (message) => {
  invokeAll(invokeTask.parse(message).events).then((result) => process.send?.(result), fail);
});
process.on('disconnect', () => process.exit());
