/** A worker: a function that a queue invokes. */
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
  /** The most executions at once; never more than the setting for deliveries. Messages for which there is no capacity stay in the queue. */
  readonly maxConcurrency: number;
  /**
   * Set where what the queue gets bounds the executions well enough, so that only a small account needs the maximum: one whose
   * setting for deliveries is lower. Lambda polls an idle queue with five pollers, "and can optimize to as few as 2", but not with a
   * maximum ("Configuring scaling behavior for SQS event source mappings"): each queue's three are $0.16 a month and region.
   */
  readonly isBoundedBySource?: boolean;
}

/** The rights that the code of every worker has: to hold and to delete what it gets, and to park what it cannot read. */
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

/** Makes a worker, with the right to take messages off its queue. */
export function makeWorker(stack: Stack, id: string, props: WorkerProps): SvcFunction {
  const { queues, source, maxConcurrency, isBoundedBySource = false, ...own } = props;
  const { memoryMb = functionMemoryMb, placement } = own;
  const { deliveryConcurrency, longDelivery } = own.settings;
  const { queueArn } = queues[source];
  // A worker sends to the queue that invokes it: a retry, a callback, a message that comes back after an outage.
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
    // CloudFormation looks for drift only in what its template sets: `cdk drift` has to see a worker that somebody disabled.
    enabled: true,
    // An environment on instances takes many invocations: a message need not wait for the slowest of a batch.
    batchSize: placement === undefined ? Math.min(shapes[source].batchSize, messagesInMemory(memoryMb)) : 1,
    ...(queues.windows[source] > 0 && { maxBatchingWindow: Duration.seconds(queues.windows[source]) }),
    // A failed message is received again. The rest of its batch does not.
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
