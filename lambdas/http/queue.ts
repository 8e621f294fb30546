import type { SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda';
import { parsePointer, type Pointer } from '../domain/pointer.ts';
import { log } from '../transport/log.ts';

/**
 * The Lambda handler of a queue: each message of a batch goes its own pace, and those that fail, and only those, come
 * back.
 */
export function records(
  work: (record: SQSRecord) => Promise<void>,
): (event: SQSEvent) => Promise<SQSBatchResponse> {
  const handle = async (record: SQSRecord): Promise<boolean> => {
    try {
      await work(record);
      return true;
    } catch (error) {
      log.warn('A message goes back to its queue', {
        body: record.body,
        sqsMessageId: record.messageId,
        receives: Number(record.attributes.ApproximateReceiveCount),
        error: error instanceof Error ? error : String(error),
      });
      return false;
    }
  };
  return async ({ Records }) => {
    const done = await Promise.all(Records.map(handle));
    return {
      batchItemFailures: Records.filter((_, index) => done[index] === false).map(({ messageId }) => ({
        itemIdentifier: messageId,
      })),
    };
  };
}

/** The Lambda handler of a queue of pointers. */
export const pointers = (
  work: (pointer: Pointer) => Promise<void>,
): ((event: SQSEvent) => Promise<SQSBatchResponse>) => records((record) => work(parsePointer(record.body)));
