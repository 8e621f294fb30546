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

it('each pump of a lane has its own schedule, whose name is as long as a name may be', async () => {
  const create = vi.spyOn(await transport.scheduler(), 'create');
  // One pump is due at the end of the period, and another extends the line every three days.
  const dueAt = Date.now() + 3 * 86_400_000;
  const key = '\u{1f600}'.repeat(128);
  const look: PumpJob = { kind: 'pump', accountId: 'acct', lane: 'key', name: key, dueAt };
  await transport.sendJob(look, dueAt);
  await transport.sendJob({ ...look, keepsFrom: 0 }, dueAt);
  const names = create.mock.calls.map(([{ name }]) => name);
  expect(new Set(names).size).toBe(2);
  for (const name of names) expect(name).toMatch(/^[\w.-]{1,64}$/);
});
