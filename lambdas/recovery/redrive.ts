/**
 * Sends back what was put aside: parked messages to the queues that they came from, undelivered fires to the queue of fires. A
 * message is deleted after it was sent, so it may be sent twice; what its job has done already is not done again.
 */
import {
  ChangeMessageVisibilityBatchCommand,
  DeleteMessageCommand,
  ReceiveMessageCommand,
  type Message,
} from '@aws-sdk/client-sqs';
import { log } from '../aws/log.ts';
import { settings } from '../aws/settings.ts';
import { sqs } from '../aws/sqs.ts';
import { parseParked, type Parked } from '../job/parked.ts';
import { sendToSource } from '../job/receipt.ts';
import { now } from '../shared/clock.ts';
import { chunksOf, eachOf } from '../shared/lists.ts';

/** The counts of what was looked at. What somebody else looks at meanwhile is hidden, and not counted. */
export interface Redriven {
  readonly sent: number;
  /** Messages that stay where they are. */
  readonly left: number;
  /** Messages that were put aside after the start: most of them were sent back, and their jobs could not be done. */
  readonly since: number;
}

type Outcome = 'sent' | 'left' | 'since';

export interface RedriveOptions {
  /** Whether a parked message is sent back. */
  readonly isWanted: (parked: Parked) => boolean;
  /** Unix milliseconds at which to end. */
  readonly until: number;
}

/** SQS gives and takes 10 messages at once. */
const messagesPerCall = 10;

/** Sends parked messages back. What cannot be sent is logged, and stays. */
export async function redriveParked({ isWanted, until }: RedriveOptions): Promise<Redriven> {
  if (settings.parkedQueueUrl === undefined) return { sent: 0, left: 0, since: 0 };
  const begunAt = now();
  return sendBack(settings.parkedQueueUrl, until, async (text) => {
    const parked = parseParked(text);
    // A worker parks what it still cannot do within milliseconds. To send it back again would go on until the time is over.
    if (parked.parkedAt > begunAt) return 'since';
    if (!isWanted(parked)) return 'left';
    await sendToSource(parked.queue, { text: parked.text, group: parked.group });
    return 'sent';
  });
}

/** Sends undelivered fires again. What cannot be sent is logged, and stays. */
export const redriveFires = (until: number): Promise<Redriven> =>
  sendBack(settings.undeliveredFiresQueueUrl, until, async (text) => {
    await sendToSource('fire', { text, group: undefined });
    return 'sent';
  });

/** Looks at each message of a queue once. */
async function sendBack(
  queueUrl: string,
  until: number,
  send: (text: string) => Promise<Outcome>,
): Promise<Redriven> {
  const counts = { sent: 0, left: 0, since: 0 };
  const kept: Message[] = [];
  try {
    while (now() < until) {
      const received = await receive(queueUrl);
      if (received.length === 0) break;
      await eachOf(received, messagesPerCall, async (message) => {
        const outcome = await sendOrLog(message, send);
        counts[outcome] += 1;
        if (outcome !== 'sent') {
          kept.push(message);
          return;
        }
        await sqs.send(
          new DeleteMessageCommand({ QueueUrl: queueUrl, ReceiptHandle: message.ReceiptHandle }),
        );
      });
    }
  } finally {
    await show(queueUrl, kept);
  }
  return counts;
}

async function receive(queueUrl: string): Promise<readonly Message[]> {
  // With a wait SQS asks all of its servers, and does not miss a message.
  const { Messages = [] } = await sqs.send(
    new ReceiveMessageCommand({
      QueueUrl: queueUrl,
      MaxNumberOfMessages: messagesPerCall,
      WaitTimeSeconds: 1,
    }),
  );
  return Messages;
}

/** One message that cannot be sent does not keep the others. */
async function sendOrLog(
  { Body = '', MessageId }: Message,
  send: (text: string) => Promise<Outcome>,
): Promise<Outcome> {
  try {
    return await send(Body);
  } catch (error) {
    log.error('A message that was put aside could not be sent back', {
      sqsMessageId: MessageId,
      error: error instanceof Error ? error : String(error),
    });
    return 'left';
  }
}

/** Makes messages visible again at once: the next who looks finds them. */
async function show(queueUrl: string, messages: readonly Message[]): Promise<void> {
  for (const some of chunksOf(messages, messagesPerCall)) {
    await sqs.send(
      new ChangeMessageVisibilityBatchCommand({
        QueueUrl: queueUrl,
        Entries: some.map(({ ReceiptHandle }, index) => ({
          Id: String(index),
          ReceiptHandle,
          VisibilityTimeout: 0,
        })),
      }),
    );
  }
}
