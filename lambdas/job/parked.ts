/**
 * Parked messages: those of a queue that this release cannot read, and jobs that kill their workers even when they are given up.
 * Nothing of them is lost: a later release sends back what it can read, and an operator all of it.
 */
import { SendMessageCommand } from '@aws-sdk/client-sqs';
import * as z from 'zod/mini';
import { settings } from '../aws/settings.ts';
import { sqs } from '../aws/sqs.ts';

const shape = z.object({
  /** The name of the queue in `resources.ts`. */
  queue: z.string(),
  why: z.enum(['unreadable', 'deaths']),
  /** The release that parked it. */
  release: z.string(),
  /** Unix milliseconds. */
  parkedAt: z.number(),
  /** The group of the message, where it has one. */
  group: z.optional(z.string()),
  /** The text of the message, as it was received. */
  text: z.string(),
});

/** A message with all that it takes to send it back. */
export type Parked = z.infer<typeof shape>;

/** @throws Error for a text that is no parked message */
export const parseParked = (text: string): Parked => shape.parse(JSON.parse(text));

/** @throws Error where it could not be parked */
export async function park(parked: Parked): Promise<void> {
  if (settings.parkedQueueUrl === undefined) throw new Error('There is no queue for parked messages yet.');
  await sqs.send(
    new SendMessageCommand({ QueueUrl: settings.parkedQueueUrl, MessageBody: JSON.stringify(parked) }),
  );
}
