import { isFinal, type Message } from '../../domain/message/message.ts';
import { keepFor, leave } from '../../domain/lane/leaving.ts';
import { lanes } from '../lane/ourLanes.ts';
import { queueLane } from '../lane/passage.ts';
import { leaveAsCallback, queueSlotOf } from '../lane/queueSlot.ts';
import { callbackIdsOf } from './consequenceIds.ts';
import type { Continuation } from './continuation.ts';

/**
 * Lets the next message of a queue start: when a message was delivered or failed, and its callbacks were. A message notes its
 * callbacks in the lane before it is recorded, so its slot is not free between the two.
 */
export const leaveQueue: Continuation = {
  store: (made) => {
    const { message } = made.history;
    const slot = queueSlotOf(message);
    const callbackIds = callbackIdsOf(made);
    if (slot === undefined || callbackIds.length === 0) return [];
    const key = queueLane(message.accountId, slot.queueName);
    return [() => lanes.update(key, (lane) => keepFor(lane, slot.entry, callbackIds))];
  },
  release: async ({ history, attempt }) => {
    if (!isFinal(attempt)) return;
    await Promise.all([leaveOwn(history.message), leaveAsCallback(history.message)]);
  },
};

async function leaveOwn(message: Message): Promise<void> {
  const slot = queueSlotOf(message);
  if (slot === undefined) return;
  await lanes.update(queueLane(message.accountId, slot.queueName), (lane) => leave(lane, slot.entry));
}
