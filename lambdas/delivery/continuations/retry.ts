import { attemptJob } from '../../job/job.ts';
import { sendJob } from '../../job/send.ts';
import type { Continuation } from './continuation.ts';
import { recordOf } from '../../message/history.ts';

/** A second job is harmless: its worker finds the first one's record. */
export const retry: Continuation = {
  release: async ({ history, attempt }) => {
    const next = attempt.number + 1;
    // A change of the message has sent the job itself.
    const isChanged = history.message.change?.dueAt[next] !== undefined;
    if (attempt.state !== 'RETRY' || isChanged || recordOf(history, next) !== undefined) return;
    await sendJob(attemptJob(history.message, next), attempt.nextDeliveryAt ?? attempt.recordedAt);
  },
};
