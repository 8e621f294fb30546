import { isFinal } from '../../message/message.ts';
import { keepSlotFor, leaveAsCallback, leaveSlot, queueSlotOf } from '../../lane/queueSlot.ts';
import { callbacksOf } from '../../message/consequenceIds.ts';
import type { Continuation } from './continuation.ts';
import type { RecordedAttempt } from '../../message/history.ts';

/**
 * Lets the next message of a queue start when a message and its own callbacks are over. The account's failure callback does not
 * count, because many queues share it. The lane notes the callbacks before the attempt is recorded, so the slot is never free
 * in between.
 */
export const leaveQueue: Continuation = {
  store: (made) => {
    const { message } = made.history;
    const slot = queueSlotOf(message);
    const callbackIds = ownCallbackIdsOf(made);
    if (slot === undefined || callbackIds.length === 0) return [];
    return [
      async () => {
        await keepSlotFor(message, slot, callbackIds);
      },
    ];
  },
  release: async (recorded) => {
    if (!isFinal(recorded.attempt)) return;
    await Promise.all([leaveOwn(recorded), leaveAsCallback(recorded.history.message)]);
  },
};

const ownCallbackIdsOf = (followed: Parameters<typeof callbacksOf>[0]): readonly string[] =>
  callbacksOf(followed).flatMap(({ kind, messageId }) => (kind === 'accountCallback' ? [] : [messageId]));

async function leaveOwn({ history, attempt: last }: RecordedAttempt): Promise<void> {
  const { message, attempts } = history;
  const slot = queueSlotOf(message);
  if (slot === undefined) return;
  const owed = [...attempts, last].flatMap((attempt) => ownCallbackIdsOf({ history, attempt }));
  await leaveSlot(message, slot, new Set(owed));
}
