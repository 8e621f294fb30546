import { sendFollowUp } from '../../lane/acquireLanes.ts';
import { callbackIdsOf } from '../../message/consequenceIds.ts';
import { loadMessage, recordOf, type RecordedAttempt } from '../../message/history.ts';
import { endMessage } from '../../message/messages.ts';
import { now } from '../../shared/clock.ts';

/**
 * Ends the messages that were stored for an attempt that another process recorded first. If the outcomes
 * differ, nothing would send these callbacks, and they would be listed as waiting.
 */
export async function endSuperseded({
  history,
  attempt,
}: Pick<RecordedAttempt, 'history' | 'attempt'>): Promise<void> {
  const { message } = history;
  const latest = await loadMessage(message);
  const recorded = latest && recordOf(latest, attempt.number);
  const caused = recorded && callbackIdsOf({ history: latest, attempt: recorded });
  for (const messageId of callbackIdsOf({ history, attempt })) {
    if (caused?.includes(messageId) !== false) continue;
    const callback = await loadMessage({ accountId: message.accountId, messageId });
    if (callback !== undefined) await endMessage(callback.message, 'REJECTED', now());
  }
  await sendFollowUp(message, attempt.number);
}
