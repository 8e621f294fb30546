import { beforeEach, expect, it } from 'vitest';
import { newId } from '../../../lambdas/shared/ids.ts';
import type { AttemptJob, Job } from '../../../lambdas/job/job.ts';
import { setClockAhead } from '../../support/clockAhead.ts';
import { useFixture } from '../../support/useFixture.ts';
import type { Fixture } from '../../support/fixture.ts';

/** Tests jobs whose message is missing: its row is written at the same time, and may follow late or never. */

let fixture: Fixture;
useFixture((opened) => {
  fixture = opened;
  return Promise.resolve();
});
beforeEach(async () => {
  await fixture.drain();
});

const attemptOf = (messageId: string): AttemptJob => ({
  kind: 'attempt',
  accountId: fixture.account.id,
  messageId,
  attempt: 0,
  queue: 'short',
});

async function doJob(job: Job, aheadMs: number): Promise<Job | undefined> {
  await fixture.perform(job, { isAgain: false });
  setClockAhead(aheadMs);
  const [again] = await fixture.drain();
  return again;
}

it('is retried even if the clock has jumped past the time that a row may take', async () => {
  setClockAhead(0);
  const made = attemptOf(newId('msg', Date.now()));
  setClockAhead(60_000);
  const again = await doJob(made, 62_000);
  expect(again).toMatchObject({ messageId: made.messageId, looks: 1 });
});

it('is finally dropped if the row is not written', async () => {
  setClockAhead(0);
  let job: Job | undefined = attemptOf(newId('msg', Date.now()));
  let looks = 0;
  for (let aheadMs = 60_000; job !== undefined && looks < 100; aheadMs += 2_000) {
    setClockAhead(aheadMs);
    job = await doJob(job, aheadMs + 2_000);
    looks += 1;
  }
  expect(looks).toBe(15);
});
