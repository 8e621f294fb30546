import { TransientError } from '../../error/transientError.ts';
import type { AttemptJob } from '../../job/job.ts';
import { declineLanes } from '../../lane/leaveLanes.ts';
import { leaveAsCallback } from '../../lane/queueSlot.ts';
import { recordOf, type MessageHistory } from '../../message/history.ts';
import { isOver, type Attempt } from '../../message/message.ts';
import { continueAgain } from './continuations.ts';

/**
 * Ends the job of an attempt that is recorded already: it may have to continue from the record.
 *
 * @throws TransientError where the worker that recorded it may not have continued: the job has to come again
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
  // SQS may have handed out one job twice. The worker that recorded the attempt is about to continue, or has failed to and
  // counts on the job to come back, which it would not, were it deleted for this one. A later record shows that it continued.
  if (!continues && recordOf(history, job.attempt + 1) === undefined) {
    throw new TransientError('The worker that recorded the attempt is not sure to have continued.');
  }
}
