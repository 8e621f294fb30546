import { Duration, type Stack } from 'aws-cdk-lib';
import type { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { EventSourceMapping } from 'aws-cdk-lib/aws-lambda';
import {
  functionMemoryMb,
  functionSecondsOf,
  longestTimeoutSeconds,
  messagesInMemory,
  queues as shapes,
} from '../../lambdas/aws/resources.ts';
import { accept } from '../acknowledge.ts';
import { SvcFunction, type SvcFunctionProps } from './function.ts';
import type { QueueName, Queues } from '../state/queues.ts';
import { allow, alsoInBatches } from '../statements.ts';

interface WorkerProps extends Omit<SvcFunctionProps, 'timeout' | 'mayInvokeItself'> {
  readonly queues: Queues;
  /** The queue that invokes the worker and sets its timing. */
  readonly source: QueueName;
  /** The most executions at once; never more than the setting for deliveries. Other messages wait in the queue. */
  readonly maxConcurrency: number;
  /**
   * Whether the queue's own rate bounds the executions, so that a maximum is set only if the setting for deliveries is lower.
   * Lambda polls an idle queue with five pollers, "and can optimize to as few as 2" only without a maximum ("Configuring
   * scaling behavior for SQS event source mappings"). The other three cost $0.16 a month for each queue and region.
   */
  readonly isBoundedBySource?: boolean;
}

/** The rights that the code of every worker has: to hold and delete its messages, and to park those that it cannot read. */
export const rightsOfWorker = (
  { queues, forEmulator }: { readonly queues: Queues; readonly forEmulator: boolean },
  source: QueueName,
): readonly PolicyStatement[] => [
  allow(
    alsoInBatches(forEmulator, 'sqs:ChangeMessageVisibility', 'sqs:DeleteMessage'),
    queues[source].queueArn,
  ),
  allow(['sqs:SendMessage'], queues.parked.queueArn),
];

/** Makes a worker with the right to receive from its queue. */
export function makeWorker(stack: Stack, id: string, props: WorkerProps): SvcFunction {
  const { queues, source, maxConcurrency, isBoundedBySource = false, ...own } = props;
  const { memoryMb = functionMemoryMb, placement } = own;
  const { deliveryConcurrency, longDelivery } = own.settings;
  const { queueArn } = queues[source];
  // A worker sends retries, callbacks, and messages after an outage to the queue that invokes it.
  const worker = new SvcFunction(stack, id, {
    ...own,
    may: [...own.may, ...rightsOfWorker({ queues, forEmulator: own.settings.forEmulator }, source)],
    timeout: Duration.seconds(functionSecondsOf(source, longestTimeoutSeconds[longDelivery])),
    mayInvokeItself: true,
  });
  worker.addToRolePolicy(allow(['sqs:ReceiveMessage', 'sqs:GetQueueAttributes'], queueArn));
  const mapping = new EventSourceMapping(stack, `${id}Source`, {
    target: worker.live,
    eventSourceArn: queueArn,
    // CloudFormation detects drift only in what a template sets: `cdk drift` has to see that somebody disabled a worker.
    enabled: true,
    // An environment on instances takes many invocations, so no message waits for the slowest of a batch.
    batchSize: placement === undefined ? Math.min(shapes[source].batchSize, messagesInMemory(memoryMb)) : 1,
    ...(queues.windows[source] > 0 && { maxBatchingWindow: Duration.seconds(queues.windows[source]) }),
    // Only failed messages of a batch are received again.
    reportBatchItemFailures: true,
    ...(placement !== undefined
      ? { maxConcurrency: placement.maxConcurrency }
      : (!isBoundedBySource || deliveryConcurrency < maxConcurrency) && {
          maxConcurrency: Math.min(maxConcurrency, deliveryConcurrency),
        }),
  });
  accept(
    mapping,
    'Serverless-LambdaEventSourceMappingDestination',
    'Lambda has such destinations for streams. What fails comes again from its queue.',
  );
  return worker;
}
