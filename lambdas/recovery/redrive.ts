/**
 * Sends parked messages back to their queues, and undelivered fires to the queue of fires. A message is
 * deleted only after it was sent, so it may be sent twice. Work that is finished is not repeated.
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

/** Messages that another receiver hides are not counted. */
interface Redriven {
  readonly sent: number;
  /** Messages that stay in the queue. */
  readonly left: number;
  /** Messages that arrived after the start. Most were sent back and failed again. */
  readonly since: number;
}

type Outcome = 'sent' | 'left' | 'since';

interface RedriveOptions {
  readonly isWanted: (parked: Parked) => boolean;
  /** Unix milliseconds at which to end. */
  readonly until: number;
}

/** The limit of SQS. */
const messagesPerCall = 10;

/** Sends parked messages back. If one cannot be sent, it is logged and stays. */
export async function redriveParked({ isWanted, until }: RedriveOptions): Promise<Redriven> {
  if (settings.parkedQueueUrl === undefined) return { sent: 0, left: 0, since: 0 };
  const begunAt = now();
  return sendBack(settings.parkedQueueUrl, until, async (text) => {
    const parked = parseParked(text);
    // A worker parks a job that still fails within milliseconds. Without this check, it would be sent back
    // again and again.
    if (parked.parkedAt > begunAt) return 'since';
    if (!isWanted(parked)) return 'left';
    await sendToSource(parked.queue, { text: parked.text, group: parked.group });
    return 'sent';
  });
}

/** Sends back all parked messages and undelivered fires. @param until when to stop */
export async function redriveAll(until: number) {
  const parked = await redriveParked({ isWanted: () => true, until });
  return { parked, fires: await redriveFires(until) };
}

/** Sends undelivered fires again. If one cannot be sent, it is logged and stays. */
const redriveFires = (until: number): Promise<Redriven> =>
  sendBack(settings.undeliveredFiresQueueUrl, until, async (text) => {
    await sendToSource('fire', { text, group: undefined });
    return 'sent';
  });

/** Reads each message of a queue once. */
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
  // Long polling asks all servers of SQS, so that no message is missed.
  const { Messages = [] } = await sqs.send(
    new ReceiveMessageCommand({
      QueueUrl: queueUrl,
      MaxNumberOfMessages: messagesPerCall,
      WaitTimeSeconds: 1,
    }),
  );
  return Messages;
}

/** If a message cannot be sent, it is logged, and the next one is sent. */
async function sendOrLog(
  { Body = '', MessageId }: Message,
  send: (text: string) => Promise<Outcome>,
): Promise<Outcome> {
  try {
    return await send(Body);
  } catch (error) {
    log.error('A parked message could not be sent back', {
      sqsMessageId: MessageId,
      error: error instanceof Error ? error : String(error),
    });
    return 'left';
  }
}

/** Makes messages visible again at once. */
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
