import { expect, it, vi } from 'vitest';
import type { PumpJob } from '../../../lambdas/job/job.ts';
import { useFixture } from '../../support/useFixture.ts';

let transport: Awaited<ReturnType<typeof importTransport>>;

async function importTransport() {
  const [{ sendJob }, { scheduler }] = await Promise.all([
    import('../../../lambdas/job/send.ts'),
    import('../../../lambdas/aws/scheduler.ts'),
  ]);
  return { sendJob, scheduler };
}

useFixture(async () => {
  transport = await importTransport();
});

it('the pumps of a lane that come at one moment have each their own schedule, in as many characters as one may have', async () => {
  const create = vi.spyOn(await transport.scheduler(), 'create');
  // A rate of one in three days: a pump comes when the period ends, and extends its line every three days.
  const dueAt = Date.now() + 3 * 86_400_000;
  const key = '\u{1f600}'.repeat(128);
  const look: PumpJob = { kind: 'pump', accountId: 'acct', lane: 'key', name: key, dueAt };
  await transport.sendJob(look, dueAt);
  await transport.sendJob({ ...look, keepsFrom: 0 }, dueAt);
  const names = create.mock.calls.map(([{ name }]) => name);
  expect(new Set(names).size).toBe(2);
  for (const name of names) expect(name).toMatch(/^[\w.-]{1,64}$/);
});
