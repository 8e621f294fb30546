import { describe, expect, it } from 'vitest';
import { acts, fixture, runFixture, useRuns } from '../../../support/useRuns.ts';
import { itAtEachDeath } from '../../../support/faults.ts';
import { resultOf } from '../../../support/runFixture.ts';

useRuns();

describe('the end of a run', () => {
  itAtEachDeath('is the same where its process dies and it is asked for again', async (fate) => {
    const runId = `wfr_end_${fate.name}`;
    await runFixture.start(runId);
    await acts.twice(fate, () => acts.end(runId, { body: '{"done":true}' }));
    expect(await acts.kinds(runId)).toEqual(['start', 'end']);
    expect(await acts.listed(runId)).toEqual(['RUN_SUCCESS']);
  });

  it('is the first of two simultaneous requests', async () => {
    await runFixture.start('wfr_race');
    fixture.reset();
    fixture.beforeCall('PutItemCommand', 1, () => acts.end('wfr_race', { cancel: true }));
    await acts.end('wfr_race', { body: '1' });
    expect(await acts.kinds('wfr_race')).toEqual(['start', 'end']);
    expect(await acts.listed('wfr_race')).toEqual(['RUN_CANCELED']);
  });

  it('repeats its answer: 2XX to its endpoint, 404 to a user who cancels it in another way', async () => {
    await runFixture.start('wfr_done');
    await acts.end('wfr_done');
    await acts.end('wfr_done');
    await expect(acts.end('wfr_done', { cancel: true })).rejects.toMatchObject({ status: 404 });
    await runFixture.start('wfr_cancelled');
    await acts.end('wfr_cancelled', { cancel: true });
    await acts.end('wfr_cancelled', { cancel: true });
    await acts.end('wfr_cancelled');
    expect((await runFixture.snapshotOf('wfr_cancelled')).state).toBe('RUN_CANCELED');
    await acts.end('wfr_nobody');
    await expect(acts.end('wfr_nobody', { cancel: true })).rejects.toMatchObject({ status: 404 });
  });

  it('drops its pending deliveries', async () => {
    const inbox = fixture.receiver.inbox();
    await runFixture.start('wfr_drop', { details: { url: inbox.url } });
    await runFixture.submit('wfr_drop', [resultOf(1)]);
    await acts.end('wfr_drop', { cancel: true });
    await fixture.doJobs();
    expect(inbox.deliveries).toHaveLength(0);
    expect(await acts.kinds('wfr_drop')).toEqual(['start', 'steps', 'end']);
  });

  it('is in the list even if the run ends before its start is listed', async () => {
    const { followStart } = await import('../../../../lambdas/workflow/runs/follow.ts');
    await runFixture.start('wfr_fast');
    const snapshot = await runFixture.snapshotOf('wfr_fast');
    const [start] = await acts.records('wfr_fast');
    if (start?.kind !== 'start') throw new Error('The journal begins with no start.');
    await acts.end('wfr_fast');
    await followStart(fixture.account, runFixture.keyOf('wfr_fast'), { snapshot, record: start }, true);
    expect(await acts.listed('wfr_fast')).toEqual(['RUN_SUCCESS']);
  });
});
