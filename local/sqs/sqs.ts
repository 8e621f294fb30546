/** The stand-in for Amazon SQS: standard queues with the AWS JSON 1.0 protocol. */
import { accountId } from '../aws/arns.ts';
import type { HandOver } from '../aws/handOver.ts';
import { startJsonServer } from '../aws/server.ts';
import type { Store } from '../store/store.ts';
import { checkSize, toOutgoing, type Outgoing } from './inputs.ts';
import { checkQueue, sqsOperations } from './operations.ts';
import { Queues, type QueueShape } from './queues.ts';
import type { Owner } from './storedMessages.ts';

export interface Sqs {
  readonly url: string;
  readonly queueUrl: (name: string) => string;
  readonly handOver: HandOver;
  readonly queues: Queues;
  /**
   * Sends a message, as Scheduler does.
   *
   * @returns resolves when it is on the disk
   * @throws AwsError if SQS would refuse it
   */
  readonly send: (queue: string, body: string) => Promise<void>;
  /**
   * Makes a message, see `Queues.toSend`.
   *
   * @throws AwsError if SQS would refuse it
   */
  readonly toSend: (queue: string, body: string) => ReturnType<Queues['toSend']>;
  readonly close: () => Promise<void>;
}

interface SqsOptions {
  readonly queues: readonly QueueShape[];
  readonly region: string;
  readonly store: Store;
  readonly owner?: Owner;
  readonly now: () => number;
  readonly report: (error: unknown) => void;
}

export async function startSqs(options: SqsOptions): Promise<Sqs> {
  const { queues: shapes, region, store, owner, now, report } = options;
  const queues = new Queues(shapes, store, now, owner);
  const server = await startJsonServer({
    version: '1.0',
    operations: sqsOperations,
    contextOf: (signal) => ({ queues, region, signal }),
    unknownCode: 'UnsupportedOperation',
    failureCode: 'InternalFailure',
    report,
  });
  const checked = (queue: string, body: string): Outgoing => {
    checkQueue(queues, queue);
    checkSize([body], 'InvalidParameterValue');
    return toOutgoing({ MessageBody: body });
  };
  return {
    url: server.url,
    handOver: server.handOver,
    queueUrl: (name) => `${server.url}/${accountId}/${name}`,
    queues,
    send: (queue, body) => queues.send(queue, [checked(queue, body)]).sent,
    toSend: (queue, body) => queues.toSend(queue, [checked(queue, body)]),
    close: async () => {
      queues.close();
      await server.close();
    },
  };
}
