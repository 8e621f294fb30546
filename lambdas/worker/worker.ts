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
import type { Parked } from '../job/parked.ts';
import { sendText, sourceOf, type Source } from '../job/receipt.ts';
import { log } from '../aws/log.ts';
import { count, withMetrics } from '../aws/metrics.ts';
import { mostDeaths } from '../aws/resources.ts';
import { settings } from '../aws/settings.ts';
import { underTrace } from '../aws/trace.ts';
import { now } from '../shared/clock.ts';
import { hold } from './hold.ts';
import { startOf, type Start } from './starts.ts';

type Handler = (event: SQSEvent) => Promise<SQSBatchResponse>;

/** A queue whose function gets several messages at a time. */
interface BatchQueue<T> {
  /** @throws Error if the text is not a message of this queue */
  readonly parse: (text: string) => T;
  /** @throws if the message must be retried */
  readonly perform: (item: T, sending: Sending) => Promise<void>;
  /**
   * Ends a job that fails because of a bug in the service. Without this function, such a job is retried
   * forever.
   *
   * @throws if it must be retried
   */
  readonly giveUp?: (item: T, why: GiveUpReason, sending: Sending) => Promise<void>;
  /**
   * Undefined if no job of the queue is slow. A slow job in a batch with quick ones goes to another queue.
   */
  readonly slow?: {
    /** The destination of a slow job; undefined if the job is not slow. */
    readonly nameOf: (item: T) => string | undefined;
    readonly send: (text: string, group: string | undefined, name: string) => Promise<void>;
  };
}

interface Sending {
  /** When the message was first sent. */
  readonly sentAt: number;
  /** Whether the message was received before. */
  readonly isAgain: boolean;
}

/** A queue whose function gets one message at a time. */
interface SingleQueue<T> extends Required<Omit<BatchQueue<T>, 'slow'>> {
  /** A unique name of the job. */
  readonly nameOf: (item: T) => string;
  /** Whether starts are recorded from the first delivery on, not from the second. */
  readonly isSuspect: boolean;
}

interface Task {
  /** Undefined if starts are not recorded. */
  readonly start?: Start;
  readonly handOn?: (() => Promise<void>) | undefined;
  readonly run: () => Promise<void>;
}

interface Receipt {
  readonly record: SQSRecord;
  readonly source: Source;
}

interface ReadReceipt extends Receipt {
  readonly message: Redelivered;
  readonly task: Task;
}

type TaskOf = (receipt: Receipt, message: Redelivered, sending: Sending) => Task;

const receivesOf = ({ attributes }: SQSRecord): number => Number(attributes.ApproximateReceiveCount);

/**
 * From this delivery on, a message is retried every quarter of an hour, and its failures are logged as
 * errors.
 */
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
 * Makes a handler in which no message of a batch waits for another. A message that fails is sent again, with
 * a growing delay. If that fails too, SQS redelivers it after its visibility timeout.
 */
const handlerOf = (taskOf: TaskOf): Handler =>
  withMetrics(async ({ Records }: SQSEvent) => {
    const [first] = Records;
    if (first === undefined) return { batchItemFailures: [] };
    // All messages of an invocation come from one queue.
    const source = sourceOf(first.eventSourceARN);
    const held = hold(Records, source);
    const read = Records.map((record) => readReceipt({ record, source }, taskOf));
    const isMixed = read.some(({ task }) => task?.handOn === undefined);
    await held.ready;
    const settled = await Promise.all(
      read.map(async (one) => {
        const isDone = await handle(one, isMixed);
        if (isDone) held.done(one.record);
        return isDone;
      }),
    );
    await held.end();
    return {
      batchItemFailures: Records.filter((_, index) => settled[index] === false).map(({ messageId }) => ({
        itemIdentifier: messageId,
      })),
    };
  });

type Unread = Receipt & { readonly task?: undefined; readonly error: unknown };

function readReceipt(receipt: Receipt, taskOf: TaskOf): ReadReceipt | Unread {
  const { record } = receipt;
  try {
    const message = parseRedelivered(record.body);
    const task = taskOf(receipt, message, {
      sentAt: message.sentAt ?? sentAtOf(record),
      isAgain: message.returns > 0 || receivesOf(record) > 1,
    });
    return { ...receipt, message, task };
  } catch (error) {
    return { ...receipt, error };
  }
}

/**
 * @param isMixed whether the batch has quick jobs
 * @returns false if SQS must redeliver the message
 */
async function handle(receipt: ReadReceipt | Unread, isMixed: boolean): Promise<boolean> {
  if (receipt.task === undefined) return parkUnreadable(receipt);
  const { record, message, task } = receipt;
  const work = isMixed && task.handOn !== undefined ? task.handOn : task.run;
  return underTrace(record.attributes.AWSTraceHeader ?? message.trace, () => run(receipt, work));
}

/** @returns false if it could not be parked */
async function parkUnreadable({ record, source, error }: Unread): Promise<boolean> {
  count('WorkUnreadable');
  log.error('A message that this release cannot read is parked', {
    ...recordFields(record),
    ...errorFields(error),
  });
  try {
    await park({ record, source }, 'unreadable');
    count('GivenUp');
    return true;
  } catch (failure) {
    log.error('A message could not be parked, and is left to SQS', {
      ...recordFields(record),
      ...errorFields(failure),
    });
    return false;
  }
}

async function park({ record, source }: Receipt, why: Parked['why']): Promise<void> {
  const parked = await import('../job/parked.ts');
  await parked.park({
    queue: source.name,
    why,
    release: settings.release,
    parkedAt: now(),
    group: record.attributes.MessageGroupId,
    text: record.body,
  });
}

/** @returns false if SQS must redeliver the message */
async function run(receipt: ReadReceipt, work: () => Promise<void>): Promise<boolean> {
  const { record, message } = receipt;
  try {
    await work();
    return true;
  } catch (error) {
    const hasFault = isFault(error);
    count(hasFault ? 'WorkFaults' : 'WorkOutages');
    const level = hasFault || message.returns >= returnsUntilError ? 'error' : 'warn';
    const what = hasFault ? 'The service failed with a message' : 'A message met an outage';
    log[level](`${what}, and it comes back to its queue`, { ...recordFields(record), ...errorFields(error) });
    return redeliver(receipt, hasFault);
  }
}

const sentAtOf = ({ attributes }: SQSRecord): number => Number(attributes.SentTimestamp);

/** @returns false if the message could not be sent again */
async function redeliver(
  { record, source, message, task: { start } }: ReadReceipt,
  hasFault: boolean,
): Promise<boolean> {
  try {
    const ended = start?.ended() ?? message.ended;
    const text = formatRedelivered(message, { sentAt: sentAtOf(record), isFault: hasFault, ended });
    const delaySeconds = redeliveryDelaySeconds(message.returns, Math.random());
    await sendText(source.url, { text, group: record.attributes.MessageGroupId, delaySeconds });
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

export const batchWorker = <T>(queue: BatchQueue<T>): Handler =>
  handlerOf(({ record, source }, { faults }, sending) => {
    const item = queue.parse(record.body);
    // A job that was received before stays, because the other queue would not know that.
    const mayHandOn = source.name !== 'slow' && !sending.isAgain;
    return {
      handOn: mayHandOn ? handOnOf(queue, item, record) : undefined,
      run: () => performOrGiveUp(queue, item, faults, sending),
    };
  });

/** @returns undefined for a job that is not slow */
function handOnOf<T>({ slow }: BatchQueue<T>, item: T, record: SQSRecord): Task['handOn'] {
  const name = slow?.nameOf(item);
  if (slow === undefined || name === undefined) return undefined;
  return () => slow.send(record.body, record.attributes.MessageGroupId, name);
}

const performOrGiveUp = <T>(
  { perform, giveUp }: BatchQueue<T>,
  item: T,
  faults: number,
  sending: Sending,
): Promise<void> =>
  faults < mostFaults || giveUp === undefined ? perform(item, sending) : giveUp(item, 'faults', sending);

/**
 * Makes the handler of a queue whose function gets one message at a time. A job that has killed several
 * workers is given up, and parked if giving it up kills workers too. SQS's receive count cannot be used,
 * because it includes messages that Lambda throttled.
 */
export const singleWorker = <T>(queue: SingleQueue<T>): Handler =>
  handlerOf((receipt, { ended, faults }, { sentAt, isAgain }) => {
    const { record } = receipt;
    const item = queue.parse(record.body);
    const receives = receivesOf(record);
    // A suspect job was already delivered by another queue.
    const sending = { sentAt, isAgain: isAgain || queue.isSuspect };
    const run = () => performOrGiveUp(queue, item, faults, sending);
    if (!queue.isSuspect && receives <= 1) return { run };
    const start = startOf(queue.nameOf(item), `${record.messageId}/${receives}`, ended);
    const runNoted = async (): Promise<void> => {
      const deaths = (await start.note()) - 1;
      if (deaths < mostDeaths) await run();
      else if (deaths < 2 * mostDeaths) await queue.giveUp(item, 'deaths', sending);
      else {
        await parkDeadly(receipt, deaths);
        await start.forget();
        return;
      }
      await start.remove();
    };
    return { start, run: runNoted };
  });

async function parkDeadly(receipt: Receipt, deaths: number): Promise<void> {
  log.error('A job that kills its workers even when it is given up is parked', {
    ...recordFields(receipt.record),
    deaths,
  });
  await park(receipt, 'deaths');
  count('GivenUp');
}
