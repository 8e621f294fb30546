/**
 * The function deliver in many processes, as under load. They share only the tables. They are copies of one file in this
 * process, where the meter sees their calls.
 */
import { pathToFileURL } from 'node:url';
import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { SQSClient } from '@aws-sdk/client-sqs';
import * as z from 'zod/mini';
import { queues } from '../lambdas/aws/resources.ts';
import { setVariables } from '../local/lambda/environment.ts';
import { startEventSource } from '../local/lambda/eventSource.ts';
import { toFunction, type LambdaFunction } from '../local/lambda/lambda.ts';
import { checkAnswer } from './answer.ts';
import { compileChild } from './child.ts';
import type { Fixture } from './fixture.ts';

const region = 'us-east-1';
const timeoutMs = 60_000;

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

const copy = z.object({
  handler: z.custom<Parameters<typeof toFunction>[1]>((value) => typeof value === 'function'),
  dynamodb: z.custom<DynamoDBClient>((value) => typeof value === 'object'),
  sqs: z.custom<SQSClient>((value) => typeof value === 'object'),
});

const batch = z.object({ Records: z.array(z.object({ body: z.string() })) });

export async function startFleet({ meter, standIns }: Fixture): Promise<Fleet> {
  const file = pathToFileURL(compileChild('deliver')).href;
  // Jobs that go back to their queue are counted, but not logged.
  setVariables({ POWERTOOLS_LOG_LEVEL: 'ERROR' });
  const size = processes.long + processes.short;
  const idle: LambdaFunction[] = [];
  for (let number = 0; number < size; number += 1) {
    const { handler, ...clients } = copy.parse(await import(`${file}?copy=${number}`));
    meter.watch(clients);
    idle.push(toFunction(`deliver ${number}`, handler, { region, timeoutMs }));
  }

  /** The process that was idle for longest works next, so that its knowledge of a lane is old, as in a large fleet. */
  async function invoke(event: unknown): Promise<unknown> {
    const process = idle.shift();
    if (process === undefined) throw new Error('All processes are busy.');
    const answer = await process.invoke(event);
    checkAnswer(answer);
    idle.push(process);
    return answer;
  }

  async function work(batchSize: number, isDone: () => boolean): Promise<HandedOut> {
    let invocations = 0;
    let pumps = 0;
    const isSettled = (): boolean =>
      fedQueues.every((name) => standIns.sqs.queues.unsettled(name).length === 0) && isDone();
    await new Promise<void>((resolve, reject) => {
      const end = async (error?: unknown): Promise<void> => {
        await Promise.all(sources.map((source) => source.stop(AbortSignal.timeout(timeoutMs))));
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
          region,
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
