/** A worker: a function that a queue invokes. */
import { Duration, type Stack } from 'aws-cdk-lib';
import { EventSourceMapping } from 'aws-cdk-lib/aws-lambda';
import { functionMemoryMb, messagesInMemory } from '../../lambdas/aws/resources.ts';
import { accept } from '../acknowledge.ts';
import { SvcFunction, type SvcFunctionProps } from './function.ts';
import { type QueueName, type Queues, timing } from '../state/queues.ts';
import { allow } from '../statements.ts';

interface WorkerProps extends Omit<SvcFunctionProps, 'timeout' | 'mayInvokeItself'> {
  readonly queues: Queues;
  /** The queue that invokes the worker and sets its timing. */
  readonly source: QueueName;
  /** The most executions at once; never more than the setting for deliveries. What has no room stays in the queue. */
  readonly maxConcurrency: number;
  /** Seconds for which Lambda gathers messages before it invokes the worker. */
  readonly batchingWindow?: number;
}

/** Makes a worker, with the right to take messages off its queue. */
export function makeWorker(stack: Stack, id: string, props: WorkerProps): SvcFunction {
  const { queues, source, maxConcurrency, batchingWindow = 0, ...own } = props;
  const { queueArn } = queues[source];
  // A worker sends to the queue that invokes it: a retry, a callback, a message that comes back after an outage.
  const worker = new SvcFunction(stack, id, {
    ...own,
    timeout: timing[source].timeout,
    mayInvokeItself: true,
  });
  worker.addToRolePolicy(
    allow(['sqs:ReceiveMessage', 'sqs:DeleteMessage', 'sqs:GetQueueAttributes'], queueArn),
  );
  const mapping = new EventSourceMapping(stack, `${id}Source`, {
    target: worker,
    eventSourceArn: queueArn,
    // CloudFormation looks for drift only in what its template sets: `cdk drift` has to see a worker that somebody disabled.
    enabled: true,
    batchSize: Math.min(timing[source].batchSize, messagesInMemory(own.memoryMb ?? functionMemoryMb)),
    ...(batchingWindow > 0 && { maxBatchingWindow: Duration.seconds(batchingWindow) }),
    // A failed message comes again. The rest of its batch does not.
    reportBatchItemFailures: true,
    maxConcurrency: Math.min(maxConcurrency, own.settings.deliveryConcurrency),
  });
  accept(
    mapping,
    'Serverless-LambdaEventSourceMappingDestination',
    'Lambda has such destinations for streams. What fails comes again from its queue.',
  );
  return worker;
}
