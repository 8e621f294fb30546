import { attemptJob } from '../../job/job.ts';
import { sendJob } from '../../job/send.ts';
import type { Continuation } from './continuation.ts';
import { recordOf } from '../../message/history.ts';

/** Sends the job of the next attempt. Sent twice, the attempt is made once: the second worker finds its record. */
export const retry: Continuation = {
  release: async ({ history, attempt }) => {
    const next = attempt.number + 1;
    // A change of the message sent the job of the next attempt itself.
    const isChanged = history.message.change?.dueAt[next] !== undefined;
    if (attempt.state !== 'RETRY' || isChanged || recordOf(history, next) !== undefined) return;
    await sendJob(attemptJob(history.message, next), attempt.nextDeliveryAt ?? attempt.recordedAt);
  },
};
