/** The function deliver in many processes, fed from its queues. */
import * as z from 'zod/mini';
import { queues } from '../lambdas/aws/resources.ts';
import { startEventSource } from '../local/lambda/eventSource.ts';
import { functionOptions, startCopies } from './copies.ts';
import { deliveryQueues, type Fixture } from './fixture.ts';

/** Concurrent processes per queue. With batches of ten, the first queue has enough work for a parallelism over 100. */
const processes = { long: 12, short: 2 } as const;
export const fleetSize = processes.long + processes.short;

export type Fleet = Awaited<ReturnType<typeof startFleet>>;

const batch = z.object({ Records: z.array(z.object({ body: z.string() })) });

export async function startFleet({ meter, standIns }: Fixture) {
  const invoke = await startCopies(meter, 'deliver', fleetSize);

  /**
   * Gives queued messages to the processes, until the queues are empty and a condition is true.
   *
   * @param batchSize the most messages per invocation
   * @returns the number of invocations, and the pumps in them
   */
  async function work(batchSize: number, isDone: () => boolean) {
    let invocations = 0;
    let pumps = 0;
    const isSettled = (): boolean =>
      deliveryQueues.every((name) => standIns.sqs.queues.unsettled(name).length === 0) && isDone();
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
      const sources = deliveryQueues.map((queue) =>
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

  return { work };
}
