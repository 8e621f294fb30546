/** Workers: the Lambda handlers behind queues. */
import type { SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda';
import {
  formatRedelivered,
  mostFaults,
  parseRedelivered,
  redeliveryDelaySeconds,
  type GiveUpReason,
  type Redelivered,
} from '../job/redelivery.ts';
import { isFault } from '../job/fault.ts';
import { startOf, type Start } from './starts.ts';
import { log } from '../aws/log.ts';
import { count, withMetrics } from '../aws/metrics.ts';
import { underTrace } from '../aws/trace.ts';
import { sendAgain } from '../job/receipt.ts';

type Handler = (event: SQSEvent) => Promise<SQSBatchResponse>;

/** A queue whose function gets several messages at a time, with the functions that do their jobs. */
interface BatchQueue<T> {
  /** @throws Error for a text that is no message of this queue */
  readonly parse: (text: string) => T;
  /**
   * @throws when the message must be sent again
   */
  readonly perform: (item: T, sending: Sending) => Promise<void>;
  /**
   * Ends a job that the service fails with again and again. Without it, such a job is sent again for ever.
   *
   * @throws when that has to be done again
   */
  readonly giveUp?: (item: T, why: GiveUpReason, sending: Sending) => Promise<void>;
}

/** The way of a message to its worker. */
interface Sending {
  /** Unix milliseconds at which it was sent for the first time. */
  readonly sentAt: number;
  /** Whether it has been handed out before. */
  readonly isAgain: boolean;
}

/** A queue whose function gets one message at a time. */
interface SingleQueue<T> extends Required<BatchQueue<T>> {
  /** Names a job as no other is named. */
  readonly nameOf: (item: T) => string;
  /** Whether its starts are noted from the first delivery on, and not only from the second. */
  readonly isSuspect: boolean;
}

/** One message's job, ready to run. */
interface Task {
  /** Undefined where starts are not noted. */
  readonly start: Start | undefined;
  readonly run: () => Promise<void>;
}

type TaskOf = (record: SQSRecord, message: Redelivered, sending: Sending) => Task;

const receivesOf = ({ attributes }: SQSRecord): number => Number(attributes.ApproximateReceiveCount);

/** From this return on a message comes every quarter of an hour: an operator should see why. */
const returnsUntilError = 8;

const errorFields = (error: unknown): { readonly error: Error | string } => ({
  error: error instanceof Error ? error : String(error),
});

const recordFields = (record: SQSRecord) => ({
  body: record.body,
  sqsMessageId: record.messageId,
  receives: receivesOf(record),
});

/**
 * Makes a handler in which each message of a batch takes its own time. A message that fails, and only that, is sent again, with
 * a delay that grows. Where it cannot be sent, SQS shows it again when its visibility timeout ends.
 */
const handlerOf = (taskOf: TaskOf): Handler =>
  withMetrics(async ({ Records }: SQSEvent) => {
    const settled = await Promise.all(Records.map((record) => handle(record, taskOf)));
    return {
      batchItemFailures: Records.filter((_, index) => settled[index] === false).map(({ messageId }) => ({
        itemIdentifier: messageId,
      })),
    };
  });

/** @returns false when the message is left to SQS */
async function handle(record: SQSRecord, taskOf: TaskOf): Promise<boolean> {
  let message: Redelivered;
  let task: Task;
  try {
    message = parseRedelivered(record.body);
    task = taskOf(record, message, {
      sentAt: message.sentAt ?? sentAtOf(record),
      isAgain: message.returns > 0 || receivesOf(record) > 1,
    });
  } catch (error) {
    count('WorkUnreadable');
    log.error('A message that nobody can read is dropped', {
      ...recordFields(record),
      ...errorFields(error),
    });
    return true;
  }
  return underTrace(record.attributes.AWSTraceHeader ?? message.trace, () => run(record, message, task));
}

/** @returns false when the message is left to SQS */
async function run(record: SQSRecord, message: Redelivered, task: Task): Promise<boolean> {
  try {
    await task.run();
    return true;
  } catch (error) {
    const hasFault = isFault(error);
    count(hasFault ? 'WorkFaults' : 'WorkOutages');
    const level = hasFault || message.returns >= returnsUntilError ? 'error' : 'warn';
    const what = hasFault ? 'The service failed with a message' : 'A message met an outage';
    log[level](`${what}, and it comes back to its queue`, { ...recordFields(record), ...errorFields(error) });
    return redeliver(record, message, hasFault, task.start);
  }
}

const sentAtOf = ({ attributes }: SQSRecord): number => Number(attributes.SentTimestamp);

/** @returns false when the message could not be sent again */
async function redeliver(
  record: SQSRecord,
  message: Redelivered,
  hasFault: boolean,
  start: Start | undefined,
): Promise<boolean> {
  try {
    const ended = start?.ended() ?? message.ended;
    const text = formatRedelivered(message, { sentAt: sentAtOf(record), isFault: hasFault, ended });
    const delaySeconds = redeliveryDelaySeconds(message.returns, Math.random());
    await sendAgain(record.eventSourceARN, text, record.attributes.MessageGroupId, delaySeconds);
    return true;
  } catch (error) {
    log.error('A message could not be sent again, and is left to SQS', {
      ...recordFields(record),
      ...errorFields(error),
    });
  }
  try {
    await start?.remove();
  } catch (error) {
    log.error('A start could not be removed', { ...recordFields(record), ...errorFields(error) });
  }
  return false;
}

/** Makes the handler of a queue whose function gets several messages at a time. */
export const batchWorker = <T>(queue: BatchQueue<T>): Handler =>
  handlerOf(({ body }, { faults }, sending) => {
    const item = queue.parse(body);
    return { start: undefined, run: () => performOrGiveUp(queue, item, faults, sending) };
  });

const performOrGiveUp = <T>(
  { perform, giveUp }: BatchQueue<T>,
  item: T,
  faults: number,
  sending: Sending,
): Promise<void> =>
  faults < mostFaults || giveUp === undefined ? perform(item, sending) : giveUp(item, 'faults', sending);

/**
 * Makes the handler of a queue whose function gets one message at a time: when its worker dies, nothing else dies with it.
 * A job that killed several workers is given up. Receives do not tell it, because Lambda also receives messages that it then
 * throttles.
 */
export const singleWorker = <T>(queue: SingleQueue<T>): Handler =>
  handlerOf((record, { ended, faults }, { sentAt, isAgain }) => {
    const item = queue.parse(record.body);
    const receives = receivesOf(record);
    // A suspect job has been handed out before, by another queue.
    const sending = { sentAt, isAgain: isAgain || queue.isSuspect };
    const run = () => performOrGiveUp(queue, item, faults, sending);
    if (!queue.isSuspect && receives <= 1) return { start: undefined, run };
    const start = startOf(queue.nameOf(item), `${record.messageId}/${receives}`, ended);
    const runNoted = async (): Promise<void> => {
      const isDeadly = await start.note();
      await (isDeadly ? queue.giveUp(item, 'deaths', sending) : run());
      await start.remove();
    };
    return { start, run: runNoted };
  });
