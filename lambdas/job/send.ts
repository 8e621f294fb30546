/**
 * Sends jobs to the delivery workers: with a delay of SQS if they are due soon, otherwise by EventBridge
 * Scheduler.
 */
import { createHash } from 'node:crypto';
import { SendMessageBatchCommand, SendMessageCommand } from '@aws-sdk/client-sqs';
import { setTimeout } from 'node:timers/promises';
import { minuteMs, now, secondMs } from '../shared/clock.ts';
import { chunksOf, eachOf } from '../shared/lists.ts';
import {
  deliveryQueues,
  formatJob,
  type DeliveryQueue,
  type CompletionTimeoutJob,
  type PumpJob,
  type WaitTimeoutJob,
  type Job,
} from './job.ts';
import { groupOf } from './group.ts';
import { TransientError } from '../error/transientError.ts';
import { settings } from '../aws/settings.ts';
import { traceAttribute, traceHeader } from '../aws/trace.ts';
import { sendLater, unschedule } from '../aws/scheduler.ts';
import { sqs } from '../aws/sqs.ts';

export interface DueJob {
  readonly job: Job;
  readonly dueAt: number;
}

interface Route {
  readonly queue: DeliveryQueue;
  /** The job's name in Scheduler, if it is due later than SQS can delay it. */
  readonly scheduleName: string;
}

const attemptName = (messageId: string, attempt: number, change?: string): string =>
  [messageId, attempt, ...(change === undefined ? [] : [change])].join('-');

const completionName = ({
  messageId,
  attempt,
  until,
}: Omit<CompletionTimeoutJob, 'kind' | 'accountId'>): string =>
  [attemptName(messageId, attempt), 'open', ...(until === undefined ? [] : [until])].join('-');

/**
 * A pump that extends the line has another name than one that does not, because both may run at the same
 * time.
 */
function pumpName({ accountId, lane, name, dueAt, keepsFrom }: PumpJob): string {
  const hashed = hashedName('pump', `${accountId}#${lane}#${name}`);
  return `${hashed}-${dueAt}${keepsFrom === undefined ? '' : '-keep'}`;
}

/** Hashed, because the name may be too long or have invalid characters. */
const hashedName = (kind: string, name: string): string =>
  `${kind}-${createHash('sha256').update(name).digest('hex').slice(0, 32)}`;
const waitName = ({ accountId, runId, seq, dueAt }: WaitTimeoutJob): string =>
  `${hashedName('wait', `${accountId}#${seq}#${runId}`)}-${dueAt}`;

function routeOf(job: Job): Route {
  const { accountId } = job;
  switch (job.kind) {
    case 'attempt':
      return {
        queue: job.queue,
        scheduleName: attemptName(job.messageId, job.attempt, job.change),
      };
    case 'completionTimeout':
      return { queue: 'short', scheduleName: completionName(job) };
    case 'pump':
      return { queue: 'short', scheduleName: pumpName(job) };
    case 'runStart':
      return {
        queue: 'short',
        scheduleName: hashedName('start', `${accountId}#${job.messageId}#${job.runId}`),
      };
    case 'runEnd':
      return {
        queue: 'short',
        scheduleName: hashedName('end', `${accountId}#${job.createdAt}#${job.runId}`),
      };
    case 'runRefused':
      return {
        queue: 'short',
        scheduleName: hashedName('refused', `${accountId}#${job.startSeq}#${job.runId}`),
      };
    case 'waitTimeout':
      return { queue: 'short', scheduleName: waitName(job) };
    case 'bulk':
      return { queue: 'short', scheduleName: `${job.bulkId}-${job.step}` };
  }
}

const urlOf = (queue: DeliveryQueue): string =>
  queue === 'short' ? settings.shortQueueUrl : settings.longQueueUrl;
const arnOf = (queue: DeliveryQueue): string =>
  queue === 'short' ? settings.shortQueueArn : settings.longQueueArn;

const longestTimerSeconds = 900;

/** Whether SQS cannot delay a message from one time to the other. */
export const isFarFrom = (sentAt: number, dueAt: number): boolean =>
  dueAt - sentAt > longestTimerSeconds * secondMs;

/** The delay in whole seconds, at most SQS's longest. */
const timerUntil = (dueAt: number): number =>
  Math.min(Math.ceil(Math.max(0, dueAt - now()) / secondMs), longestTimerSeconds);

const messageOf = ({ job, dueAt }: DueJob) => ({
  MessageBody: formatJob(job),
  MessageSystemAttributes: traceAttribute(),
  DelaySeconds: timerUntil(dueAt),
  MessageGroupId: groupOf(job.accountId),
});

/** Undefined if SQS can delay the job. */
const scheduleNameOf = ({ job, dueAt }: DueJob): string | undefined =>
  isFarFrom(now(), dueAt) ? routeOf(job).scheduleName : undefined;

/** In the text, because Scheduler has no other place for a trace header. */
function textForScheduler(job: Job): string {
  const trace = traceHeader();
  return trace === undefined ? formatJob(job) : JSON.stringify({ ...job, trace });
}

const schedule = (name: string, { job, dueAt }: DueJob): Promise<void> =>
  sendLater({ name, dueAt, queueArn: arnOf(routeOf(job).queue), input: textForScheduler(job) });

/** Scheduler sends up to two minutes early, and clocks differ. */
const longestEarlyMs = 3 * minuteMs;

/**
 * Whether a job arrived before its work is due. If it seems to be much too early, the clock has stepped back
 * since it was sent, and its work is due.
 */
export const isEarly = (dueAt: number): boolean => dueAt > now() && dueAt - now() <= longestEarlyMs;

/**
 * Sends a job. If Scheduler sends it up to two minutes early, its worker sends it on.
 *
 * @param dueAt Unix milliseconds
 */
export async function sendJob(job: Job, dueAt: number): Promise<void> {
  const due = { job, dueAt };
  const name = scheduleNameOf(due);
  if (name !== undefined) await schedule(name, due);
  else await sqs.send(new SendMessageCommand({ QueueUrl: urlOf(routeOf(job).queue), ...messageOf(due) }));
}

export const withdrawFar = (messageId: string, attempt: number, change: string | undefined): Promise<void> =>
  unschedule(attemptName(messageId, attempt, change));

export const withdrawFarCompletion = (messageId: string, attempt: number): Promise<void> =>
  unschedule(completionName({ messageId, attempt }));

export const withdrawFarWait = (job: WaitTimeoutJob): Promise<void> => unschedule(waitName(job));

/** SQS takes 10 messages in a call. */
const messagesPerSend = 10;
const sendsAtOnce = 20;
/** With the pauses, these take 1.4 s. A throttled queue accepts most messages by then. */
const mostRounds = 4;
const firstPauseMs = 200;

interface Sending<T> extends DueJob {
  readonly item: T;
}

/** @returns the items whose jobs were not sent, with reasons */
export async function sendEach<T>(
  items: readonly T[],
  dueJobOf: (item: T) => DueJob,
): Promise<ReadonlyMap<T, unknown>> {
  const failures = new Map<T, unknown>();
  let left: readonly Sending<T>[] = items.map((item) => ({ item, ...dueJobOf(item) }));
  for (let round = 0; round < mostRounds && left.length > 0; round += 1) {
    if (round > 0) await setTimeout(firstPauseMs * 2 ** (round - 1));
    failures.clear();
    const isFar = (due: DueJob): boolean => scheduleNameOf(due) !== undefined;
    const far = left.filter(isFar).map((one) => [one]);
    const near = left.filter((one) => !isFar(one));
    const batches = deliveryQueues.flatMap((queue) =>
      chunksOf(
        near.filter(({ job }) => routeOf(job).queue === queue),
        messagesPerSend,
      ),
    );
    await eachOf([...far, ...batches], sendsAtOnce, async (batch) => {
      for (const [item, error] of await sendBatch(batch)) failures.set(item, error);
    });
    left = left.filter(({ item }) => failures.has(item));
  }
  return failures;
}

/** @throws TransientError if some jobs were not sent; the others were sent */
export async function sendAll<T>(items: readonly T[], dueJobOf: (item: T) => DueJob): Promise<void> {
  const failures = await sendEach(items, dueJobOf);
  const [cause] = failures.values();
  if (failures.size > 0) throw new TransientError(`${failures.size} jobs could not be sent.`, { cause });
}

/** @param batch jobs of one queue, or one job for Scheduler */
async function sendBatch<T>(batch: readonly Sending<T>[]): Promise<readonly [T, unknown][]> {
  const [first] = batch;
  if (first === undefined) return [];
  try {
    const name = scheduleNameOf(first);
    if (name !== undefined) {
      await schedule(name, first);
      return [];
    }
    const { Failed = [] } = await sqs.send(
      new SendMessageBatchCommand({
        QueueUrl: urlOf(routeOf(first.job).queue),
        Entries: batch.map((due, index) => ({ Id: String(index), ...messageOf(due) })),
      }),
    );
    return Failed.flatMap(({ Id, Code, Message: text }) => {
      const due = batch[Number(Id)];
      if (due === undefined) return [];
      const error = new Error(text ?? 'SQS did not take it.');
      error.name = Code ?? 'ServiceFailure';
      return [[due.item, error]];
    });
  } catch (error) {
    return batch.map(({ item }) => [item, error]);
  }
}
