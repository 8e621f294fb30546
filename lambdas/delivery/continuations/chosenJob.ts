/**
 * The row that names the job that continues from a completed attempt. Several jobs may be sent for it. Lists
 * of messages do not read this partition.
 */
import * as z from 'zod/mini';
import { getRow } from '../../aws/dynamodb.ts';
import { settings } from '../../aws/settings.ts';
import { attemptJob } from '../../job/job.ts';
import { sendJob } from '../../job/send.ts';
import { epochSeconds, now } from '../../shared/clock.ts';
import type { Message } from '../../message/message.ts';
import { putMarked, ifNew } from '../../aws/writes.ts';

const keyOf = (messageId: string, attempt: number) => ({
  shard: `continued#${messageId}~${attempt}`,
  id: 'continued',
});

const shape = z.object({ by: z.string() });

/** Sends a job that continues from the record of a completed attempt. */
export const sendContinuation = (message: Message, attempt: number): Promise<void> =>
  sendJob({ ...attemptJob(message, attempt), isFollowUp: true, followUpId: crypto.randomUUID() }, now());

export const isJobChosen = async ({ messageId }: Message, attempt: number): Promise<boolean> =>
  (await getRow(settings.messagesTable, keyOf(messageId, attempt), true)) !== undefined;

/**
 * Chooses the first job that asks.
 *
 * @param by the name of the job
 * @returns `again` if this job was chosen before
 */
export async function chooseJob(
  message: Message,
  attempt: number,
  by: string,
): Promise<'first' | 'again' | 'other'> {
  const expiresAt = epochSeconds(message.expiresAt);
  const row = { ...keyOf(message.messageId, attempt), by, expiresAt };
  const chosen = await putMarked(settings.messagesTable, row, ifNew);
  if (chosen.isMade) return 'first';
  return shape.parse(chosen.row).by === by ? 'again' : 'other';
}
