import type { SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda';
import { parsePointer, type Pointer } from '../domain/pointer.ts';
import { log } from '../transport/log.ts';

/**
 * The Lambda handler of a queue of pointers: each of a batch goes its own pace, and those that fail, and only those,
 * come back.
 */
export function pointers(
  work: (pointer: Pointer) => Promise<void>,
): (event: SQSEvent) => Promise<SQSBatchResponse> {
  const handle = async (record: SQSRecord): Promise<boolean> => {
    let pointer: Pointer | undefined;
    try {
      pointer = parsePointer(record.body);
      await work(pointer);
      return true;
    } catch (error) {
      log.warn('A pointer goes back to its queue', {
        messageId: pointer?.messageId,
        attempt: pointer?.attempt,
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
