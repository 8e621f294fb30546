import { TransientError } from '../../error/transientError.ts';
import type { AttemptJob } from '../../job/job.ts';
import { declineLanes } from '../../lane/leaveLanes.ts';
import { leaveAsCallback } from '../../lane/queueSlot.ts';
import { recordOf, type MessageHistory } from '../../message/history.ts';
import { isOver, type Attempt } from '../../message/message.ts';
import { continueAgain } from './continuations.ts';

/**
 * Ends the job of a recorded attempt.
 *
 * @throws TransientError if the worker that recorded it may not have continued: the job must be retried
 */
export async function continueRecorded(
  history: MessageHistory,
  recorded: Attempt,
  job: AttemptJob,
  isAgain: boolean,
): Promise<void> {
  const continues = isAgain || job.isFollowUp === true;
  if (continues) await continueAgain(history, recorded);
  else if (isOver(history)) await leaveAsCallback(history.message);
  await declineLanes(job, isOver(history) ? 'over' : 'goesOn');
  // SQS may have delivered one job twice. The other worker is about to continue, or counts on a redelivery, so this delivery
  // must not delete the job. A later record shows that it has continued.
  if (!continues && recordOf(history, job.attempt + 1) === undefined) {
    throw new TransientError('The worker that recorded the attempt is not sure to have continued.');
  }
}
