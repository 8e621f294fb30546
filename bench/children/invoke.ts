/** A process that does nothing but call one bundled handler, one event after another, as Lambda does. */
import * as z from 'zod/mini';
import { checkAnswer } from '../answer.ts';
import { cpuMsSince, invokeTask, onTask, type invokeResult } from './protocol.ts';

const module = z.object({ handler: z.custom<(event: unknown, context: object) => Promise<unknown>>() });

onTask(invokeTask, async ({ bundle, warmUp, rounds }): Promise<z.infer<typeof invokeResult>> => {
  const { handler } = module.parse(await import(bundle));
  const invokeAll = async (events: readonly unknown[]): Promise<number> => {
    const answers: unknown[] = [];
    const cpu = process.cpuUsage();
    for (const event of events) {
      answers.push(await handler(event, { awsRequestId: 'bench', getRemainingTimeInMillis: () => 30_000 }));
    }
    const cpuMs = cpuMsSince(cpu);
    answers.forEach(checkAnswer);
    return cpuMs;
  };
  await invokeAll(warmUp);
  const roundsCpuMs: number[] = [];
  for (const round of rounds) roundsCpuMs.push(await invokeAll(round));
  return { roundsCpuMs };
});
