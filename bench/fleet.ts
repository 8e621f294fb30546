/** The function deliver in many processes, fed from its queues. */
import * as z from 'zod/mini';
import { queues } from '../lambdas/aws/resources.ts';
import { startEventSource } from '../local/lambda/eventSource.ts';
import { functionOptions, startCopies } from './copies.ts';
import type { Fixture } from './fixture.ts';

/** Concurrent processes per queue. With batches of ten, the first queue has enough work for a parallelism over 100. */
const processes = { long: 12, short: 2 } as const;
const fedQueues = ['long', 'short'] as const;

export interface HandedOut {
  readonly invocations: number;
  readonly pumps: number;
}

export interface Fleet {
  readonly size: number;
  /**
   * Gives queued messages to the processes, until the queues are empty and a condition is true.
   *
   * @param batchSize the most messages per invocation
   */
  work(batchSize: number, isDone: () => boolean): Promise<HandedOut>;
  purge(): void;
}

const batch = z.object({ Records: z.array(z.object({ body: z.string() })) });

export async function startFleet({ meter, standIns }: Fixture): Promise<Fleet> {
  const size = processes.long + processes.short;
  const invoke = await startCopies(meter, 'deliver', size);

  async function work(batchSize: number, isDone: () => boolean): Promise<HandedOut> {
    let invocations = 0;
    let pumps = 0;
    const isSettled = (): boolean =>
      fedQueues.every((name) => standIns.sqs.queues.unsettled(name).length === 0) && isDone();
    await new Promise<void>((resolve, reject) => {
      const end = async (error?: unknown): Promise<void> => {
        await Promise.all(
          sources.map((source) => source.stop(AbortSignal.timeout(functionOptions.timeoutMs))),
        );
        if (error === undefined) resolve();
        else reject(new Error('A process failed.', { cause: error }));
      };
      const counting = async (event: unknown): Promise<unknown> => {
        invocations += 1;
        pumps += batch.parse(event).Records.filter(({ body }) => body.includes('"kind":"pump"')).length;
        const answer = await invoke(event);
        // Messages are deleted after the answer.
        setImmediate(() => {
          if (isSettled()) void end();
        });
        return answer;
      };
      const sources = fedQueues.map((queue) =>
        startEventSource({
          queues: standIns.sqs.queues,
          queue,
          region: functionOptions.region,
          batchSize: Math.min(batchSize, queues[queue].batchSize),
          maximumConcurrency: processes[queue],
          function: { name: queue, invoke: counting },
          report: (error) => void end(error),
        }),
      );
    });
    return { invocations, pumps };
  }

  return {
    size,
    work,
    purge: () => {
      for (const name of fedQueues) standIns.sqs.queues.purge(name);
    },
  };
}
