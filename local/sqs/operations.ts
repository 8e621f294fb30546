/** The SQS operations that the service and its tests use. */
import { createHash } from 'node:crypto';
import { accountId, queueArn } from '../aws/arns.ts';
import { AwsError } from '../aws/awsError.ts';
import { checkedOperations, type Operation } from '../aws/server.ts';
import {
  attributesInput,
  changeVisibilityBatchInput,
  changeVisibilityInput,
  checkBatch,
  checkSize,
  deleteBatchInput,
  deleteInput,
  depthAttributes,
  purgeInput,
  receiveInput,
  sendBatchInput,
  sendInput,
  toOutgoing,
  toReceipt,
} from './inputs.ts';
import type { Queues, Received } from './queues.ts';
import { formatReceipt } from './receipt.ts';

interface SqsContext {
  readonly queues: Queues;
  readonly region: string;
  readonly signal: AbortSignal;
}

const operation = checkedOperations<SqsContext>('InvalidParameterValue');

export const sqsOperations = new Map<string, Operation<SqsContext>>(
  Object.entries({
    SendMessage: operation(sendInput, async ({ queues }, { QueueUrl, ...message }) => {
      const name = queueIn(queues, QueueUrl);
      checkSize([message.MessageBody], 'InvalidParameterValue');
      const {
        ids: [MessageId],
        sent,
      } = queues.send(name, [toOutgoing(message)]);
      await sent;
      return { MessageId, MD5OfMessageBody: md5(message.MessageBody) };
    }),
    SendMessageBatch: operation(sendBatchInput, async ({ queues }, { QueueUrl, Entries }) => {
      const name = queueIn(queues, QueueUrl);
      checkBatch(Entries);
      const bodies = Entries.map(({ MessageBody }) => MessageBody);
      checkSize(bodies, 'BatchRequestTooLong');
      const { done, Failed } = sift(Entries, toOutgoing);
      const { ids, sent } = queues.send(
        name,
        done.map(({ value }) => value),
      );
      await sent;
      const Successful = done.map(({ entry }, index) => ({
        Id: entry.Id,
        MessageId: ids[index],
        MD5OfMessageBody: md5(entry.MessageBody),
      }));
      return { Successful, Failed };
    }),
    ReceiveMessage: operation(receiveInput, async ({ queues, region, signal }, input) => {
      const { VisibilityTimeout } = input;
      const received = await queues.receive(queueIn(queues, input.QueueUrl), {
        max: input.MaxNumberOfMessages,
        waitMs: 1000 * input.WaitTimeSeconds,
        ...(VisibilityTimeout !== undefined && { visibilityTimeoutMs: 1000 * VisibilityTimeout }),
        signal,
      });
      const wanted = new Set(input.MessageSystemAttributeNames);
      return { Messages: received.map((message) => toWire(message, region, wanted)) };
    }),
    DeleteMessage: operation(deleteInput, ({ queues }, { QueueUrl, ReceiptHandle }) => {
      queueIn(queues, QueueUrl);
      queues.delete([toReceipt(ReceiptHandle)]);
      return {};
    }),
    DeleteMessageBatch: operation(deleteBatchInput, ({ queues }, { QueueUrl, Entries }) => {
      queueIn(queues, QueueUrl);
      checkBatch(Entries);
      const { done, Failed } = sift(Entries, ({ ReceiptHandle }) => toReceipt(ReceiptHandle));
      queues.delete(done.map(({ value }) => value));
      return { Successful: done.map(({ entry }) => ({ Id: entry.Id })), Failed };
    }),
    ChangeMessageVisibility: operation(
      changeVisibilityInput,
      ({ queues }, { QueueUrl, ReceiptHandle, VisibilityTimeout }) => {
        queueIn(queues, QueueUrl);
        changeVisibility(queues, { ReceiptHandle, VisibilityTimeout });
        return {};
      },
    ),
    ChangeMessageVisibilityBatch: operation(
      changeVisibilityBatchInput,
      ({ queues }, { QueueUrl, Entries }) => {
        queueIn(queues, QueueUrl);
        checkBatch(Entries);
        const { done, Failed } = sift(Entries, (entry) => {
          changeVisibility(queues, entry);
        });
        return { Successful: done.map(({ entry }) => ({ Id: entry.Id })), Failed };
      },
    ),
    GetQueueAttributes: operation(attributesInput, ({ queues }, { QueueUrl, AttributeNames }) => {
      const depths = queues.depths(queueIn(queues, QueueUrl));
      const shown = AttributeNames.map((name) => [name, String(depths[depthAttributes[name]])] as const);
      return { Attributes: Object.fromEntries(shown) };
    }),
    PurgeQueue: operation(purgeInput, ({ queues }, { QueueUrl }) => {
      queues.purge(queueIn(queues, QueueUrl));
      return {};
    }),
  }),
);

export function checkQueue(queues: Queues, name: string): void {
  if (queues.has(name)) return;
  throw new AwsError('QueueDoesNotExist', 'The specified queue does not exist.');
}

/**
 * Finds the queue's name in a URL with any host.
 *
 * @throws AwsError
 */
function queueIn(queues: Queues, queueUrl: string): string {
  const name = queueUrl.slice(queueUrl.lastIndexOf('/') + 1);
  checkQueue(queues, name);
  return name;
}

function changeVisibility(
  queues: Queues,
  {
    ReceiptHandle,
    VisibilityTimeout,
  }: { readonly ReceiptHandle: string; readonly VisibilityTimeout: number },
): void {
  if (queues.changeVisibility(toReceipt(ReceiptHandle), 1000 * VisibilityTimeout)) return;
  throw new AwsError('MessageNotInflight', 'The message is not in flight, so its visibility cannot change.');
}

/** Separates the valid entries of a batch from those that are refused. */
function sift<Entry extends { readonly Id: string }, Value>(
  entries: readonly Entry[],
  toValue: (entry: Entry) => Value,
) {
  const done: { entry: Entry; value: Value }[] = [];
  const Failed: { Id: string; Code: string; Message: string; SenderFault: boolean }[] = [];
  for (const entry of entries) {
    try {
      done.push({ entry, value: toValue(entry) });
    } catch (error) {
      if (!(error instanceof AwsError)) throw error;
      Failed.push({ Id: entry.Id, Code: error.code, Message: error.message, SenderFault: true });
    }
  }
  return { done, Failed };
}

/** @param wanted names of system attributes, or `All` */
function toWire(message: Received, region: string, wanted: ReadonlySet<string>) {
  const attributes = Object.entries(systemAttributes(message, region));
  return {
    MessageId: message.id,
    ReceiptHandle: formatReceipt(message.receipt),
    Body: message.body,
    MD5OfBody: md5(message.body),
    Attributes: Object.fromEntries(attributes.filter(([name]) => wanted.has('All') || wanted.has(name))),
  };
}

/** The system attributes of a message. Numbers are written as texts. */
export function systemAttributes(message: Received, region: string) {
  const { sentAt, receives, firstReceivedAt, groupId, deadLetterSource } = message;
  return {
    SenderId: accountId,
    SentTimestamp: String(sentAt),
    ApproximateReceiveCount: String(receives),
    ApproximateFirstReceiveTimestamp: String(firstReceivedAt),
    ...(groupId !== undefined && { MessageGroupId: groupId }),
    ...(deadLetterSource !== undefined && { DeadLetterQueueSourceArn: queueArn(region, deadLetterSource) }),
  };
}

/** The SDK checks this hash, and fails if it differs. */
export function md5(text: string): string {
  return createHash('md5').update(text).digest('hex');
}
