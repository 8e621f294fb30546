/** The slot of its queue that a message has, from its first attempt until it and its callbacks are over. */
import { leaveCallback } from './rules/leaving.ts';
import type { Message, QueueSlot } from '../message/message.ts';
import { attemptWork } from '../job/job.ts';
import { lanes } from './slots/ourLanes.ts';
import { queueEntry, queueLane } from './slots/acquire.ts';

/** The slot of a message, or the place that it takes for one; undefined for a message without a queue. */
export const queueSlotOf = (message: Message): QueueSlot | undefined =>
  message.queueName === undefined
    ? undefined
    : { queueName: message.queueName, entry: queueEntry(attemptWork(message, 0)) };

/**
 * Ends what a callback is waited for. To be called whenever its work finds it over: it may have been noted in its message's
 * lease again meanwhile, by a second worker that made the attempt which it tells of.
 */
export async function leaveAsCallback({
  slotOf,
  accountId,
  messageId,
}: Pick<Message, 'slotOf' | 'accountId' | 'messageId'>): Promise<void> {
  if (slotOf === undefined) return;
  const { queueName, entry } = slotOf;
  await lanes.update(queueLane(accountId, queueName), (lane) => leaveCallback(lane, entry, messageId));
}
