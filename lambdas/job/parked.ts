/**
 * Parked messages: those that this release cannot read, and jobs that kill their workers even when they are
 * given up. A later release sends back those that it can read. An operator can send back all.
 */
import { SendMessageCommand } from '@aws-sdk/client-sqs';
import * as z from 'zod/mini';
import { settings } from '../aws/settings.ts';
import { sqs } from '../aws/sqs.ts';

const shape = z.object({
  /** The queue's name in `resources.ts`. */
  queue: z.string(),
  why: z.enum(['unreadable', 'deaths']),
  release: z.string(),
  parkedAt: z.number(),
  group: z.optional(z.string()),
  text: z.string(),
});

export type Parked = z.infer<typeof shape>;

/** @throws Error for an invalid text */
export const parseParked = (text: string): Parked => shape.parse(JSON.parse(text));

/** @throws Error if it was not parked */
export async function park(parked: Parked): Promise<void> {
  if (settings.parkedQueueUrl === undefined) throw new Error('There is no queue for parked messages yet.');
  await sqs.send(
    new SendMessageCommand({ QueueUrl: settings.parkedQueueUrl, MessageBody: JSON.stringify(parked) }),
  );
}
