/**
 * Holds the messages of an invocation that takes longer than most. Two calls that a quick invocation saves:
 *
 * - What is still under way is hidden until the invocation has surely ended. A queue hides a message for six times as long, counted
 *   from its receive. So a message whose invocation begins late stays hidden, and one whose worker dies comes back soon.
 * - What is done is deleted, and does not wait for the slowest of its batch: should the worker die, it does not come again.
 */
import { ChangeMessageVisibilityBatchCommand, DeleteMessageBatchCommand } from '@aws-sdk/client-sqs';
import type { SQSRecord } from 'aws-lambda';
import { log } from '../aws/log.ts';
import { queues } from '../aws/resources.ts';
import { sqs } from '../aws/sqs.ts';
import type { Source } from '../job/receipt.ts';
import { secondMs } from '../shared/clock.ts';
import { chunksOf } from '../shared/lists.ts';

/** An invocation that ends sooner makes no call. Most destinations answer well within it. */
const quickMs = 500;
/** The time between two looks at what is done. */
const deleteEveryMs = 2 * secondMs;
/** The time between the end of an invocation and the return of what it has not done. */
const marginSeconds = 10;
/** SQS takes 10 messages at once. */
const messagesPerCall = 10;

export interface Hold {
  /** Resolves when work may begin: at once, unless a message may have killed a worker before. */
  readonly ready: Promise<void>;
  /** Takes a message that is done. */
  readonly done: (record: SQSRecord) => void;
  /** Resolves when no call is under way any more. */
  readonly end: () => Promise<void>;
}

/** Begins to hold the messages of an invocation, which has just started. */
export function hold(records: readonly SQSRecord[], { name, url }: Source): Hold {
  const underWay = new Set(records);
  let toDelete: SQSRecord[] = [];
  let calls: Promise<void> = Promise.resolve();

  const inCalls = async (held: readonly SQSRecord[], call: typeof hide): Promise<void> => {
    try {
      for (const some of chunksOf(held, messagesPerCall)) await call(url, some, name);
    } catch (error) {
      log.warn('Messages of a long invocation could not be held', {
        error: error instanceof Error ? error : String(error),
      });
    }
  };
  const then = (work: () => Promise<void>): void => {
    calls = calls.then(work);
  };
  const hideAll = (): void => {
    then(() => inCalls([...underWay], hide));
  };
  const first = isSuspect(records, name) ? undefined : setTimeout(hideAll, quickMs);
  if (first === undefined) hideAll();
  const ready = calls;
  const others = setInterval(() => {
    if (toDelete.length === 0 || underWay.size === 0) return;
    const deleted = toDelete;
    toDelete = [];
    then(() => inCalls(deleted, remove));
  }, deleteEveryMs);

  return {
    ready,
    done: (record) => {
      underWay.delete(record);
      toDelete.push(record);
    },
    end: async () => {
      clearTimeout(first);
      clearInterval(others);
      await calls;
    },
  };
}

/** Whether a job may have killed a worker: it is to come back soon even from one that dies at once. */
const isSuspect = (records: readonly SQSRecord[], name: Source['name']): boolean =>
  name === 'dead' || records.some(({ attributes }) => Number(attributes.ApproximateReceiveCount) > 1);

async function hide(url: string, records: readonly SQSRecord[], name: Source['name']): Promise<void> {
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

async function remove(url: string, records: readonly SQSRecord[]): Promise<void> {
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
