import { expect, it } from 'vitest';
import { openBulks } from '../../support/bulkFixture.ts';
import { itAtEachDeath } from '../../support/faults.ts';
import { fixture, runFixture, useRuns } from '../../support/useRuns.ts';

let bulks: Awaited<ReturnType<typeof openBulks>>;
useRuns(async () => {
  bulks = await openBulks(fixture);
  await Promise.all([fixture.readUsage(fixture.account), fixture.deploymentRules()]);
});

const startMany = async (ids: readonly string[], label: string) => {
  const details = { settings: { maxRetries: 3, timeoutMs: 30_000, labels: [label] } };
  for (const id of ids) await runFixture.start(id, { details });
};
const stateOf = async (runId: string) => (await runFixture.snapshotOf(runId)).state;
const statesOf = async (ids: readonly string[]) => new Set(await Promise.all(ids.map(stateOf)));
const numbered = (count: number, name: string) =>
  Array.from({ length: count }, (_, at) => `wfr_${name}_${at}`);
const laterThan = async (bulkId: string) => {
  const { createdAt } = await bulks.shown(bulkId);
  while (Date.now() <= createdAt);
};

itAtEachDeath(
  'that dies at any of its AWS calls is repeated, counts each run once, and leaves others alone',
  async (fate) => {
    const label = `東京 ${fate.name}`;
    const ids = numbered(3, fate.name);
    await startMany(ids, label);
    const [done, other, later] = ['done', 'other', 'later'].map((one) => `wfr_${one}_${fate.name}`) as [
      string,
      string,
      string,
    ];
    await startMany([done], label);
    await runFixture.end(done, { state: 'RUN_SUCCESS' });
    await startMany([other], 'other');
    const bulkId = await bulks.start('runs.cancel', { label, workflowUrl: 'https://' });
    await laterThan(bulkId);
    await startMany([later], label);
    await fixture.doJobs(fate);
    expect(await bulks.shown(bulkId)).toMatchObject({ state: 'done', done: 3, failed: 0 });
    expect(await statesOf(ids)).toEqual(new Set(['RUN_CANCELED']));
    expect(await statesOf([other, later])).toEqual(new Set(['RUN_STARTED']));
    expect(await stateOf(done)).toBe('RUN_SUCCESS');
  },
);

it('a run whose id was used again since it was found is left alone', async () => {
  await startMany(numbered(3, 'again'), 'again');
  const bulkId = await bulks.start('runs.cancel', { label: 'again' });
  const job = await bulks.stepAfterSearch();
  const [first = ''] = numbered(1, 'again');
  await runFixture.end(first, { state: 'RUN_SUCCESS' });
  await laterThan(bulkId);
  await startMany([first], 'again');
  await bulks.doStep(fixture.account, job, false);
  expect(await bulks.shown(bulkId)).toMatchObject({ state: 'done', done: 2, failed: 0 });
  expect(await stateOf(first)).toBe('RUN_STARTED');
});

it('an operation cancels a run only once when its step is received several times at once', async () => {
  const ids = numbered(30, 'twice');
  await startMany(ids, 'twice');
  const bulkId = await bulks.start('runs.cancel', { label: 'twice' });
  const job = await bulks.stepAfterSearch();
  await Promise.all([1, 2, 3].map(() => bulks.doStep(fixture.account, job, false)));
  await bulks.doStep(fixture.account, job, true);
  expect(await bulks.shown(bulkId)).toMatchObject({ state: 'done', done: 30, failed: 0 });
  expect(await statesOf(ids)).toEqual(new Set(['RUN_CANCELED']));
});
