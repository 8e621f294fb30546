import { expect, vi } from 'vitest';
import { fixture, runs, useFailedRuns } from '../../support/useRuns.ts';
import { imported } from '../../support/imported.ts';
import { listIn, resultBody } from '../../support/failedRuns.ts';
import { itAtEachDeath } from '../../support/faults.ts';
import { configOf } from '../../support/fixture.ts';

useFailedRuns();
const services = imported(() => import('../../../lambdas/workflow/resume.ts'));

const request = { prefix: 'Upstash', config: configOf({}), host: 'api.example.com' };

/** Lets more than a minute pass, so that a delivered run counts as hanging. */
function later(): void {
  const { now } = Date;
  vi.spyOn(Date, 'now').mockImplementation(() => now() + 61_000);
}

itAtEachDeath('A hanging run is replaced by one run wherever its process dies', async (fate) => {
  const { inbox, state } = runs.endpoint();
  state.isWell = true;
  const { runId } = await runs.fail(inbox.url, { steps: [{ result: 1 }, { result: 2 }] });
  await fixture.doJobs();
  later();
  const before = inbox.deliveries.length;
  const resume = () => services.rerunHanging('resume', fixture.account, { runId }, request);
  await fixture.underFate(fate, resume);
  const { workflowRunId } = await resume();
  expect(await resume()).toMatchObject({ workflowRunId });
  await fixture.doJobs();
  const delivered = new Set(
    inbox.deliveries
      .slice(before)
      .map((delivery) =>
        [delivery.headers['upstash-workflow-runid'], ...listIn(delivery).map(({ body }) => body)].join(' '),
      ),
  );
  expect(delivered).toEqual(new Set([`${workflowRunId} the payload ${resultBody(1)} ${resultBody(2)}`]));
  const old = await runs.journalOf(runId);
  expect(old.at(-1)?.record).toMatchObject({ kind: 'end', state: 'RUN_CANCELED' });
  expect(old[0]?.record).toMatchObject({ resumedAs: { runId: workflowRunId } });
});
