import { beforeEach, expect, it } from 'vitest';
import { newId } from '../../../lambdas/shared/ids.ts';
import type { AttemptJob, Job } from '../../../lambdas/job/job.ts';
import { setClockAhead } from '../../support/clockAhead.ts';
import { useWorld } from '../../support/useWorld.ts';
import type { World } from '../../support/world.ts';

/** A job whose message is not there: its row is written beside it, and may come later, or never. */

let world: World;
useWorld((opened) => {
  world = opened;
  return Promise.resolve();
});
beforeEach(async () => {
  await world.drain();
});

const attemptOf = (messageId: string): AttemptJob => ({
  kind: 'attempt',
  accountId: world.account.id,
  messageId,
  attempt: 0,
  queue: 'short',
});

/** Does the job, lets so much time pass, and returns the job that was sent again meanwhile. */
async function doJob(work: Job, aheadMs: number): Promise<Job | undefined> {
  await world.perform(work, { isAgain: false });
  setClockAhead(aheadMs);
  const [again] = await world.drain();
  return again;
}

it('comes again although the clock has jumped past the time that a row may take', async () => {
  setClockAhead(0);
  const made = attemptOf(newId('msg', Date.now()));
  setClockAhead(60_000);
  const again = await doJob(made, 62_000);
  expect(again).toMatchObject({ messageId: made.messageId, looks: 1 });
});

it('is dropped in the end, when nobody writes the row any more', async () => {
  setClockAhead(0);
  let work: Job | undefined = attemptOf(newId('msg', Date.now()));
  let looks = 0;
  for (let aheadMs = 60_000; work !== undefined && looks < 100; aheadMs += 2_000) {
    setClockAhead(aheadMs);
    work = await doJob(work, aheadMs + 2_000);
    looks += 1;
  }
  expect(looks).toBe(15);
});
