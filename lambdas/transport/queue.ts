/** The two delivery queues: pointers to messages that are due now or soon. */
import { SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import { now, secondMs } from '../domain/clock.ts';
import { targetOf } from '../domain/destination.ts';
import type { Message } from '../domain/message.ts';
import { formatPointer, type Pointer } from '../domain/pointer.ts';
import { shortTimeoutMs } from '../resources.ts';
import { settings } from '../settings.ts';

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

const send = (pointer: Pointer, group: string, delaySeconds: number): Promise<unknown> =>
  sqs.send(
    new SendMessageCommand({
      QueueUrl: pointer.queue === 'short' ? settings.shortQueueUrl : settings.longQueueUrl,
      MessageBody: formatPointer(pointer),
      DelaySeconds: Math.min(delaySeconds, longestTimerSeconds),
      MessageGroupId: group,
    }),
  );

/**
 * Sends the pointer to an attempt so that it arrives when the attempt is due, or as much earlier as the message timer
 * falls short: a worker that gets it early sends it on.
 *
 * @param dueAt Unix milliseconds
 */
export async function sendPointer(
  message: Pick<Message, 'accountId' | 'messageId' | 'url' | 'timeoutMs'>,
  attempt: number,
  dueAt: number,
): Promise<void> {
  const { accountId, messageId } = message;
  const queue = message.timeoutMs <= shortTimeoutMs ? 'short' : 'long';
  const delaySeconds = Math.ceil(Math.max(0, dueAt - now()) / secondMs);
  await send({ accountId, messageId, attempt, queue }, groupOf(message), delaySeconds);
}

/** Sends a pointer again whose message could not be seen yet. */
export async function sendAgain(pointer: Pointer, delaySeconds: number): Promise<void> {
  await send(pointer, pointer.accountId, delaySeconds);
}
