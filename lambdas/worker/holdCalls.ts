/** The calls that hold messages. They are loaded when an invocation takes long for the first time. */
import { ChangeMessageVisibilityBatchCommand, DeleteMessageBatchCommand } from '@aws-sdk/client-sqs';
import type { SQSRecord } from 'aws-lambda';
import { log } from '../aws/log.ts';
import { queues } from '../aws/resources.ts';
import { sqs } from '../aws/sqs.ts';
import type { Source } from '../job/receipt.ts';

/** The time between the end of an invocation and the return of what it has not done. */
const marginSeconds = 10;

/** Hides up to 10 messages until the invocation, which has just started, has surely ended. */
export async function hide({ name, url }: Source, records: readonly SQSRecord[]): Promise<void> {
  const { Failed = [] } = await sqs.send(
    new ChangeMessageVisibilityBatchCommand({
      QueueUrl: url,
      Entries: records.map(({ receiptHandle }, index) => ({
        Id: String(index),
        ReceiptHandle: receiptHandle,
        VisibilityTimeout: queues[name].functionTimeoutSeconds + marginSeconds,
      })),
    }),
  );
  // Most likely the queue has shown it again already, and another worker has it: attempts are idempotent.
  if (Failed.length > 0) log.warn('Messages could not be hidden for longer', { failed: Failed });
}

/** Deletes up to 10 messages. */
export async function remove({ url }: Source, records: readonly SQSRecord[]): Promise<void> {
  // What is not deleted here, Lambda deletes at the end of the invocation.
  await sqs.send(
    new DeleteMessageBatchCommand({
      QueueUrl: url,
      Entries: records.map(({ receiptHandle }, index) => ({
        Id: String(index),
        ReceiptHandle: receiptHandle,
      })),
    }),
  );
}
