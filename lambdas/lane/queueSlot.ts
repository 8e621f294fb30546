/** A message keeps its queue's slot from its first attempt until it and its callbacks are over. */
import { queueLane } from './lane.ts';
import { queueEntry } from './rules/entry.ts';
import { keepFor, leaveCallback, leaveWith } from './rules/leaving.ts';
import type { Message, QueueSlot } from '../message/message.ts';
import { attemptJob } from '../job/job.ts';
import { lanes } from './slots/processLanes.ts';

/** The message's slot or place in line; undefined without a queue. */
export const queueSlotOf = (message: Message): QueueSlot | undefined =>
  message.queueName === undefined
    ? undefined
    : { queueName: message.queueName, entry: queueEntry(attemptJob(message, 0)) };

/**
 * Tells a message that one of its callbacks is over, so that it can free its slot. Each job that finds the callback over calls this, because a second worker may have made the message wait for it again.
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

/** Makes a message keep its slot until these callbacks are over too. */
export const keepSlotFor = (
  message: Message,
  slot: QueueSlot,
  callbackIds: readonly string[],
): Promise<unknown> =>
  lanes.update(queueLane(message.accountId, slot.queueName), (lane) =>
    keepFor(lane, slot.entry, callbackIds),
  );

/** Frees the slot of a message that is over, when its callbacks are over too. */
export const leaveSlot = (message: Message, slot: QueueSlot, owed: ReadonlySet<string>): Promise<unknown> =>
  lanes.update(queueLane(message.accountId, slot.queueName), (lane) => leaveWith(lane, slot.entry, owed));
