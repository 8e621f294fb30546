import { attemptJob } from '../../job/job.ts';
import { sendJob } from '../../job/send.ts';
import type { Continuation } from './continuation.ts';
import { recordOf, followsAt } from '../../message/history.ts';

/** A second job is harmless if its worker finds the first one's record. */
export const retry: Continuation = {
  release: async (recorded) => {
    const { history, attempt } = recorded;
    const next = attempt.number + 1;
    // A change of the message has sent the job itself.
    const isChanged = history.message.change?.dueAt[next] !== undefined;
    if (attempt.state !== 'RETRY' || isChanged || recordOf(history, next) !== undefined) return;
    const dueAt = attempt.nextDeliveryAt ?? attempt.recordedAt;
    await sendJob(attemptJob(history.message, next), followsAt(recorded, history.message, dueAt));
  },
};
