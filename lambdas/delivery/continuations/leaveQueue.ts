import { isFinal } from '../../message/message.ts';
import { keepFor, leaveWith } from '../../lane/rules/leaving.ts';
import { lanes } from '../../lane/slots/ourLanes.ts';
import { queueLane } from '../../lane/slots/acquire.ts';
import { leaveAsCallback, queueSlotOf } from '../../lane/queueSlot.ts';
import { callbackIdsOf } from '../../message/consequenceIds.ts';
import type { Continuation } from '../continuation.ts';
import type { RecordedAttempt } from '../../message/history.ts';

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
  release: async (recorded) => {
    if (!isFinal(recorded.attempt)) return;
    await Promise.all([leaveOwn(recorded), leaveAsCallback(recorded.history.message)]);
  },
};

async function leaveOwn({ history, attempt: last }: RecordedAttempt): Promise<void> {
  const { message, attempts } = history;
  const slot = queueSlotOf(message);
  if (slot === undefined) return;
  const owed = [...attempts, last].flatMap((attempt) => callbackIdsOf({ history, attempt }));
  await lanes.update(queueLane(message.accountId, slot.queueName), (lane) =>
    leaveWith(lane, slot.entry, new Set(owed)),
  );
}
