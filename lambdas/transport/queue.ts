/** Pointers to messages, on their way to the two delivery queues. */
import { SendMessageBatchCommand, SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import { setTimeout } from 'node:timers/promises';
import { now, secondMs } from '../domain/clock.ts';
import { targetOf } from '../domain/destination.ts';
import { chunksOf, eachOf } from '../domain/lists.ts';
import type { Message } from '../domain/message.ts';
import { formatPointer, type Pointer } from '../domain/pointer.ts';
import { shortTimeoutMs } from '../resources.ts';
import { settings } from '../settings.ts';
import { sendLater, unschedule } from './scheduler.ts';

export const sqs = new SQSClient({
  maxAttempts: 5,
  requestHandler: { connectionTimeout: 1_000, requestTimeout: 4_000 },
});

/** The longest that SQS delays a message: `DelaySeconds` is at most 900. */
const longestTimerSeconds = 900;

/**
 * Fair queues favour groups that are quiet, so that one busy or slow destination does not starve the rest. A group's
 * name has up to 128 letters, digits and punctuation marks.
 */
const groupOf = (message: Pick<Message, 'accountId' | 'url'>): string =>
  `${message.accountId}:${targetOf(message.url).host}`.replace(/[^\x21-\x7e]/g, '_').slice(0, 128);

type Addressed = Pick<Message, 'accountId' | 'messageId' | 'url' | 'timeoutMs'>;

const queueUrl = ({ queue }: Pointer): string =>
  queue === 'short' ? settings.shortQueueUrl : settings.longQueueUrl;

const pointerTo = ({ accountId, messageId, timeoutMs }: Addressed, attempt: number): Pointer => ({
  accountId,
  messageId,
  attempt,
  queue: timeoutMs <= shortTimeoutMs ? 'short' : 'long',
});

/** Whole seconds until a moment in Unix milliseconds, as far as a message timer reaches. */
const timerUntil = (dueAt: number): number =>
  Math.min(Math.ceil(Math.max(0, dueAt - now()) / secondMs), longestTimerSeconds);

const send = (pointer: Pointer, group: string, delaySeconds: number): Promise<unknown> =>
  sqs.send(
    new SendMessageCommand({
      QueueUrl: queueUrl(pointer),
      MessageBody: formatPointer(pointer),
      DelaySeconds: delaySeconds,
      MessageGroupId: group,
    }),
  );

/** Whether one moment is further from another than a message timer reaches. Unix milliseconds. */
export const isFarFrom = (sentAt: number, dueAt: number): boolean =>
  dueAt - sentAt > longestTimerSeconds * secondMs;

const isFar = (dueAt: number): boolean => isFarFrom(now(), dueAt);

/** What Scheduler knows a far attempt by. */
const farName = (messageId: string, attempt: number): string => `${messageId}-${attempt}`;

function sendFar(message: Addressed, attempt: number, dueAt: number): Promise<void> {
  const pointer = pointerTo(message, attempt);
  return sendLater({
    name: farName(message.messageId, attempt),
    dueAt,
    queueArn: pointer.queue === 'short' ? settings.shortQueueArn : settings.longQueueArn,
    input: formatPointer(pointer),
  });
}

/** Takes back the pointer to an attempt that is far away, if it has not been sent yet. */
export const withdrawFar = (messageId: string, attempt: number): Promise<void> =>
  unschedule(farName(messageId, attempt));

/**
 * Sends the pointer to an attempt so that it arrives when the attempt is due: by a message timer, or where that does not
 * reach, by Scheduler and a little early. A worker that gets it early sends it on.
 *
 * @param dueAt Unix milliseconds
 */
export async function sendPointer(message: Addressed, attempt: number, dueAt: number): Promise<void> {
  if (isFar(dueAt)) await sendFar(message, attempt, dueAt);
  else await send(pointerTo(message, attempt), groupOf(message), timerUntil(dueAt));
}

/** SQS takes 10 messages at once. */
const pointersPerSend = 10;
const sendsAtOnce = 20;
/** How often what was not taken is sent again. */
const rounds = 4;

/**
 * Sends the pointers to the first attempts of many messages, 10 at a time.
 *
 * @returns the messages whose pointers could not be sent, each with the reason
 */
export async function sendPointers(messages: readonly Message[]): Promise<ReadonlyMap<Message, unknown>> {
  const failures = new Map<Message, unknown>();
  let left = messages;
  for (let round = 0; round < rounds && left.length > 0; round += 1) {
    if (round > 0) await setTimeout(100 * 2 ** round);
    failures.clear();
    const far = left.filter(({ notBefore }) => isFar(notBefore)).map((message) => [message]);
    const near = left.filter(({ notBefore }) => !isFar(notBefore));
    const batches = (['short', 'long'] as const).flatMap((queue) =>
      chunksOf(
        near.filter((message) => pointerTo(message, 0).queue === queue),
        pointersPerSend,
      ),
    );
    await eachOf([...far, ...batches], sendsAtOnce, async (batch) => {
      for (const [message, error] of await sendBatch(batch)) failures.set(message, error);
    });
    left = [...failures.keys()];
  }
  return failures;
}

async function sendBatch(batch: readonly Message[]): Promise<readonly [Message, unknown][]> {
  const [first] = batch;
  if (first === undefined) return [];
  try {
    if (isFar(first.notBefore)) {
      await sendFar(first, 0, first.notBefore);
      return [];
    }
    const { Failed = [] } = await sqs.send(
      new SendMessageBatchCommand({
        QueueUrl: queueUrl(pointerTo(first, 0)),
        Entries: batch.map((message, index) => ({
          Id: String(index),
          MessageBody: formatPointer(pointerTo(message, 0)),
          DelaySeconds: timerUntil(message.notBefore),
          MessageGroupId: groupOf(message),
        })),
      }),
    );
    return Failed.flatMap(({ Id, Code, Message: text }) => {
      const message = batch[Number(Id)];
      return message === undefined ? [] : [[message, new Error(`${Code ?? 'SQS'}: ${text ?? 'not taken'}`)]];
    });
  } catch (error) {
    return batch.map((message) => [message, error]);
  }
}

/** Sends a pointer again whose message could not be seen yet. */
export async function sendAgain(pointer: Pointer, delaySeconds: number): Promise<void> {
  await send(pointer, pointer.accountId, delaySeconds);
}
