/** The calls that hold messages. They are loaded when an invocation takes long for the first time. */
import { ChangeMessageVisibilityBatchCommand, DeleteMessageBatchCommand } from '@aws-sdk/client-sqs';
import type { SQSRecord } from 'aws-lambda';
import { log } from '../aws/log.ts';
import { sqs } from '../aws/sqs.ts';
import type { Source } from '../job/receipt.ts';

/** Hides up to 10 messages for a time from now on. */
export async function hide(
  { url }: Source,
  records: readonly SQSRecord[],
  visibilitySeconds: number,
): Promise<void> {
  const { Failed = [] } = await sqs.send(
    new ChangeMessageVisibilityBatchCommand({
      QueueUrl: url,
      Entries: records.map(({ receiptHandle }, index) => ({
        Id: String(index),
        ReceiptHandle: receiptHandle,
        VisibilityTimeout: visibilitySeconds,
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
