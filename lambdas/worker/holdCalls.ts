/** The SQS calls that hold messages, loaded by the first long invocation. */
import { ChangeMessageVisibilityBatchCommand, DeleteMessageBatchCommand } from '@aws-sdk/client-sqs';
import type { SQSRecord } from 'aws-lambda';
import { log } from '../aws/log.ts';
import { sqs } from '../aws/sqs.ts';
import type { Source } from '../job/receipt.ts';

/** Hides up to 10 messages, from now on. */
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
  // Another worker probably has the message already, which is harmless.
  if (Failed.length > 0) log.warn('Messages could not be hidden for longer', { failed: Failed });
}

export async function remove({ url }: Source, records: readonly SQSRecord[]): Promise<void> {
  // Lambda deletes the rest at the end of the invocation.
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
