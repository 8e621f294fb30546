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

/** The work of one queue. */
interface BatchWork<T> {
  /** @throws Error for a text that is no message of this queue */
  readonly parse: (text: string) => T;
  /**
   * @throws when the message must be sent anew
   */
  readonly perform: (item: T, sending: Sending) => Promise<void>;
  /**
   * Ends work that the service fails with again and again. Without it, such work is sent anew for ever.
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

/** The work of a queue whose function gets one message at a time. */
interface SingleWork<T> extends Required<BatchWork<T>> {
  /** A name that no other work has. */
  readonly nameOf: (item: T) => string;
  /** Whether its starts are noted from the first delivery on, and not only from the second. */
  readonly isSuspect: boolean;
}

/** One message's work, ready to run. */
interface Task {
  /** Undefined where starts are not noted. */
  readonly start: Start | undefined;
  readonly run: () => Promise<void>;
}

type TaskOf = (record: SQSRecord, message: Redelivered, sending: Sending) => Task;

const receivesOf = ({ attributes }: SQSRecord): number => Number(attributes.ApproximateReceiveCount);

/** From this return on a message is sent anew every quarter of an hour: somebody should see why. */
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
 * Makes a handler in which each message of a batch takes its own time. A message that fails, and only that, is sent anew, with
 * a delay that grows. Where it cannot be sent, SQS shows it again when its visibility timeout ends.
 */
const handlerOf = (jobOf: TaskOf): Handler =>
  withMetrics(async ({ Records }: SQSEvent) => {
    const settled = await Promise.all(Records.map((record) => handle(record, jobOf)));
    return {
      batchItemFailures: Records.filter((_, index) => settled[index] === false).map(({ messageId }) => ({
        itemIdentifier: messageId,
      })),
    };
  });

/** @returns false when the message is left to SQS */
async function handle(record: SQSRecord, jobOf: TaskOf): Promise<boolean> {
  let message: Redelivered;
  let task: Task;
  try {
    message = parseRedelivered(record.body);
    task = jobOf(record, message, {
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

/** @returns false when the message could not be sent anew */
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
    log.error('A message could not be sent anew, and is left to SQS', {
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
export const batchWorker = <T>(work: BatchWork<T>): Handler =>
  handlerOf(({ body }, { faults }, sending) => {
    const item = work.parse(body);
    return { start: undefined, run: () => performOrGiveUp(work, item, faults, sending) };
  });

const performOrGiveUp = <T>(
  { perform, giveUp }: BatchWork<T>,
  item: T,
  faults: number,
  sending: Sending,
): Promise<void> =>
  faults < mostFaults || giveUp === undefined ? perform(item, sending) : giveUp(item, 'faults', sending);

/**
 * Makes the handler of a queue whose function gets one message at a time: when its worker dies, nothing else dies with it.
 * Work that killed several workers is given up. Receives do not tell it, because Lambda also receives what it then throttles.
 */
export const singleWorker = <T>(work: SingleWork<T>): Handler =>
  handlerOf((record, { ended, faults }, { sentAt, isAgain }) => {
    const item = work.parse(record.body);
    const receives = receivesOf(record);
    // Suspect work has been handed out before, by another queue.
    const sending = { sentAt, isAgain: isAgain || work.isSuspect };
    const run = () => performOrGiveUp(work, item, faults, sending);
    if (!work.isSuspect && receives <= 1) return { start: undefined, run };
    const start = startOf(work.nameOf(item), `${record.messageId}/${receives}`, ended);
    const runNoted = async (): Promise<void> => {
      const isDeadly = await start.note();
      await (isDeadly ? work.giveUp(item, 'deaths', sending) : run());
      await start.remove();
    };
    return { start, run: runNoted };
  });
