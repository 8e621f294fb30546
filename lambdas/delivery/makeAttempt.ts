import { measure } from '../aws/metrics.ts';
import { verdictOf } from '../circuit/verdict.ts';
import { isPull } from '../destination/pull.ts';
import type { AttemptJob } from '../job/job.ts';
import { noteTime } from '../job/slowJobs.ts';
import type { Acquired } from '../lane/acquireLanes.ts';
import { type MessageHistory } from '../message/history.ts';
import { dueTimeOf } from '../message/status.ts';
import { now } from '../shared/clock.ts';
import { callDestination } from './callDestination.ts';
import { deferralOf } from './rules/deferral.ts';
import { finishAttempt } from './finishAttempt.ts';
import { decide } from './outcome.ts';
import type { ReadyMessage } from './readyMessage.ts';

export async function makeAttempt(
  { request, ...loaded }: ReadyMessage,
  job: AttemptJob,
  acquired: Acquired,
): Promise<void> {
  const { attempt: number, admittedTo } = job;
  try {
    const startedAt = now();
    if (isPull(request.message.url)) {
      request.release();
      const { offer } = await import('./deferred.ts');
      await offer(loaded, number, acquired);
      return;
    }
    const answer = await callDestination(request.message, number, loaded.account, request.body);
    request.release();
    const recordedAt = now();
    noteTime(job, request.message.url, recordedAt - startedAt);
    measureAttempt(loaded.history, number, { startedAt, recordedAt, hasWaited: admittedTo !== undefined });
    acquired.report(verdictOf(answer, recordedAt));
    const deferredMs = answer.status === 202 ? deferralOf(request.message) : undefined;
    if (deferredMs !== undefined) {
      const { leaveOpen } = await import('./deferred.ts');
      await leaveOpen(loaded, { number, startedAt, until: recordedAt + deferredMs }, acquired);
      return;
    }
    const decided = await decide(request, loaded.account, number, answer, recordedAt);
    // The log keeps its order if the clock has stepped back.
    const { attempts, message } = loaded.history;
    const since = attempts.at(-1)?.recordedAt ?? message.createdAt;
    const [began, ended] = [Math.max(startedAt, since), Math.max(recordedAt, since)];
    const result = { number, startedAt: began, recordedAt: ended, ...decided };
    await finishAttempt(loaded, result, { release: acquired.release });
  } finally {
    await acquired.release();
  }
}

/** An attempt that is repeated because its worker died is measured again. */
function measureAttempt(
  history: MessageHistory,
  number: number,
  times: { readonly startedAt: number; readonly recordedAt: number; readonly hasWaited: boolean },
): void {
  const { startedAt, recordedAt, hasWaited } = times;
  const { createdAt, notBefore } = history.message;
  if (number === 0 && notBefore <= createdAt) measure('FirstAttemptDelay', startedAt - createdAt);
  // The lateness of an attempt that waited for a slot shows how busy the lane is, not how slow the service is.
  if (!hasWaited) measure('Lateness', startedAt - dueTimeOf(history, number));
  measure('DestinationTime', recordedAt - startedAt);
}
