import { setTimeout } from 'node:timers/promises';
import type { AttemptJob } from '../../job/job.ts';
import { sendJob } from '../../job/send.ts';
import { now, secondMs } from '../../shared/clock.ts';

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
 * Sends a job again whose grant is not written yet, after a growing delay. Usually another process granted a slot first, and
 * the grant is never written.
 */
export const comeAgain = (job: AttemptJob): Promise<void> =>
  sendJob(job, now() + Math.max(secondMs, now() - (job.admittedTo?.sentAt ?? 0)));
