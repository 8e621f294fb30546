/** A process that only calls the handler of its argument's bundle, one event after another, as Lambda does. */
import * as z from 'zod/mini';
import { checkAnswer } from '../answer.ts';
import { cpuMsSince, fail, invokeTask, peakMb, type invokeResult } from './protocol.ts';

const module = z.object({ handler: z.custom<(event: unknown, context: object) => Promise<unknown>>() });

const [bundle = ''] = process.argv.slice(2);
const loading = import(bundle).then((loaded) => module.parse(loaded).handler, fail);

async function invokeAll(events: readonly unknown[]): Promise<z.infer<typeof invokeResult>> {
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

process.on('message', (message) => {
  invokeAll(invokeTask.parse(message).events).then((result) => process.send?.(result), fail);
});
process.on('disconnect', () => process.exit());
