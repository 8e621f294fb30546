import { attemptJob } from '../../job/job.ts';
import { sendJob } from '../../job/send.ts';
import type { Continuation } from './continuation.ts';
import { recordOf } from '../../message/history.ts';

/** Sends the next attempt on its way. Sent twice, it is made once: its second worker finds its record. */
export const retry: Continuation = {
  release: async ({ history, attempt }) => {
    const next = attempt.number + 1;
    if (attempt.state !== 'RETRY' || recordOf(history, next) !== undefined) return;
    await sendJob(attemptJob(history.message, next), attempt.nextDeliveryAt ?? attempt.recordedAt);
  },
};
