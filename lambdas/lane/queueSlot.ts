/** The slot that a message has of its queue, from its first attempt until the message and its callbacks are over. */
import { queueLane } from './lane.ts';
import { queueEntry } from './rules/entry.ts';
import { keepFor, leaveCallback, leaveWith } from './rules/leaving.ts';
import type { Message, QueueSlot } from '../message/message.ts';
import { attemptJob } from '../job/job.ts';
import { lanes } from './slots/processLanes.ts';

/** The slot of a message, or its place in the line; undefined for a message without a queue. */
export const queueSlotOf = (message: Message): QueueSlot | undefined =>
  message.queueName === undefined
    ? undefined
    : { queueName: message.queueName, entry: queueEntry(attemptJob(message, 0)) };

/**
 * Tells the queue of a callback's message that the callback is over. To be called whenever a job finds it over: it may have been
 * noted in its message's lease again meanwhile, by a second worker that made the attempt which the callback tells of.
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

/** Has a message keep its slot until these callbacks are over, too. */
export const keepSlotFor = (
  message: Message,
  slot: QueueSlot,
  callbackIds: readonly string[],
): Promise<unknown> =>
  lanes.update(queueLane(message.accountId, slot.queueName), (lane) =>
    keepFor(lane, slot.entry, callbackIds),
  );

/** Ends the slot of a message that is over, once the callbacks of its attempts are over too. */
export const leaveSlot = (message: Message, slot: QueueSlot, owed: ReadonlySet<string>): Promise<unknown> =>
  lanes.update(queueLane(message.accountId, slot.queueName), (lane) => leaveWith(lane, slot.entry, owed));
