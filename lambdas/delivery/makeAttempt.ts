/** One attempt: its request is made, and its outcome is decided and recorded. */
import { limitsOf } from '../account/account.ts';
import { measure } from '../aws/metrics.ts';
import { verdictOf } from '../circuit/verdict.ts';
import type { AttemptJob } from '../job/job.ts';
import { noteTime } from '../job/slowJobs.ts';
import type { Acquired } from '../lane/acquireLanes.ts';
import { dueTimeOf, type MessageHistory } from '../message/history.ts';
import { now } from '../shared/clock.ts';
import { callDestination } from './callDestination.ts';
import { finishAttempt } from './finishAttempt.ts';
import { outcomeOf, type Outcome } from './outcome.ts';
import type { ReadyMessage } from './readyMessage.ts';

/** Makes an attempt, and leaves its lanes once it is recorded. */
export async function makeAttempt(
  { request, ...loaded }: ReadyMessage,
  job: AttemptJob,
  acquired: Acquired,
): Promise<void> {
  const { attempt: number, admittedTo } = job;
  try {
    const startedAt = now();
    const answer = await callDestination(request.message, number, loaded.account, request.body);
    request.release();
    const recordedAt = now();
    noteTime(job, request.message.url, recordedAt - startedAt);
    measureAttempt(loaded.history, number, { startedAt, recordedAt, hasWaited: admittedTo !== undefined });
    acquired.report(verdictOf(answer, recordedAt));
    const error = request.errorOf(answer, limitsOf(loaded.account).max_message_size);
    const response = error === undefined ? answer : { ...answer, error };
    const outcome: Outcome =
      error === undefined
        ? await outcomeOf(request.message, number, response, recordedAt)
        : { state: 'FAILED' };
    const result = { number, startedAt, recordedAt, response, outcome };
    await finishAttempt(loaded, result, { release: acquired.release });
  } finally {
    await acquired.release();
  }
}

/** Measures an attempt that was made. One that is made again because its worker died is measured again. */
function measureAttempt(
  history: MessageHistory,
  number: number,
  times: { readonly startedAt: number; readonly recordedAt: number; readonly hasWaited: boolean },
): void {
  const { startedAt, recordedAt, hasWaited } = times;
  const { createdAt, notBefore } = history.message;
  if (number === 0 && notBefore <= createdAt) measure('FirstAttemptDelay', startedAt - createdAt);
  // An attempt that waited for a slot is as late as its lane is busy, and not as the service is slow.
  if (!hasWaited) measure('Lateness', startedAt - dueTimeOf(history, number));
  measure('DestinationTime', recordedAt - startedAt);
}
