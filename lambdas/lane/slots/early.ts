/** Jobs that come before the grant that they were sent for is visible in the table. */
import { setTimeout } from 'node:timers/promises';
import type { AttemptJob } from '../../job/job.ts';
import { sendJob } from '../../job/send.ts';
import { now, secondMs } from '../../shared/clock.ts';

/** SQS can deliver a job a few milliseconds before the row that grants it is visible: it is read again after these delays. */
const earlyPausesMs = [10, 20, 40, 80, 160];

/** Asks again for as long as the answer is early. */
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
 * Sends a job again whose grant is not written yet, each time with a longer delay: mostly the grant never will be, because
 * another process granted the attempt its slot first.
 */
export const comeAgain = (job: AttemptJob): Promise<void> =>
  sendJob(job, now() + Math.max(secondMs, now() - (job.admittedTo?.sentAt ?? 0)));
