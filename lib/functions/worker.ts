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
  /** The queue that invokes the worker, and decides its timing. */
  readonly source: QueueName;
  /** The maximum concurrency, limited by the setting for deliveries. */
  readonly maxConcurrency: number;
  /**
   * Whether the queue's own rate bounds the executions. Then a maximum is set only if the setting for deliveries is lower,
   * because Lambda polls an idle queue with five pollers, "and can optimize to as few as 2" only without a maximum
   * ("Configuring scaling behavior for SQS event source mappings"). Three pollers cost $0.16 a month.
   */
  readonly isBoundedBySource?: boolean;
}

/** Lets every worker hold, delete and park its messages. */
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

export function makeWorker(stack: Stack, id: string, props: WorkerProps): SvcFunction {
  const { queues, source, maxConcurrency, isBoundedBySource = false, ...own } = props;
  const { memoryMb = functionMemoryMb, placement } = own;
  const { deliveryConcurrency, longDelivery } = own.settings;
  const { queueArn } = queues[source];
  // To send retries, callbacks, and messages again after an outage.
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
    // `cdk drift` sees a disabled worker only if the template sets this.
    enabled: true,
    // An environment on instances has many invocations at once, so no message has to wait for a batch.
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
    'Lambda has such destinations for streams. A failed job is retried from its queue.',
  );
  return worker;
}
