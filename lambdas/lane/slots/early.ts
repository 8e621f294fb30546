import { setTimeout } from 'node:timers/promises';
import type { AttemptJob } from '../../job/job.ts';
import { sendJob } from '../../job/send.ts';
import { now, secondMs } from '../../shared/clock.ts';
import { youngMs } from './dueAttempt.ts';

/** SQS can deliver a job a few milliseconds before its grant is visible. The row is read again after these delays. */
const earlyPausesMs = [10, 20, 40, 80, 160];

export async function unlessEarly<T>(ask: () => Promise<T>, isEarly: (answer: T) => boolean): Promise<T> {
  let answer = await ask();
  for (const pauseMs of earlyPausesMs) {
    if (!isEarly(answer)) break;
    await setTimeout(pauseMs);
    answer = await ask();
  }
  return answer;
}

/**
 * Sends a job again whose grant is not written yet, after a growing delay, until the grant counts as lost.
 * Usually another process granted the slot, so this grant is never written.
 */
export function comeAgain(job: AttemptJob): Promise<void> {
  const { sentAt = 0 } = job.admittedTo ?? {};
  const doubledMs = Math.min(now() - sentAt, sentAt + youngMs - now());
  return sendJob(job, now() + Math.max(secondMs, doubledMs));
}
