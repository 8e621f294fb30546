import type { BulkJob } from '../../lambdas/job/job.ts';
import type { BulkOperation } from '../../lambdas/wire/bulkAnswers.ts';
import { configOf, type Fixture } from './fixture.ts';

/** Bulk operations in the background, in the process of a test. Call it once the fixture is open. */
export async function openBulks(fixture: Fixture) {
  const [bulks, { doStep }] = await Promise.all([
    import('../../lambdas/bulk/bulks.ts'),
    import('../../lambdas/bulk/step.ts'),
  ]);
  const nextStep = async (): Promise<BulkJob> => {
    const [job, ...more] = (await fixture.drain()).filter((one) => one.kind === 'bulk');
    if (job === undefined || more.length > 0) throw new Error('There is not one step.');
    return job;
  };
  return {
    ...bulks,
    doStep,
    nextStep,
    /** @param config headers of the request, such as `method` */
    start: async (
      operation: BulkOperation,
      filters: Readonly<Record<string, string>>,
      config: Readonly<Record<string, string>> = {},
    ): Promise<string> => {
      const request = { prefix: 'Svc', config: configOf(config), host: 'api.example.com' };
      const query = Object.entries(filters);
      return (await bulks.startBulk(fixture.account, operation, { query, filters: '', ...request })).bulkId;
    },
    shown: (bulkId: string) => bulks.getBulk(fixture.account, bulkId),
    /** Does the step that only looks for entries, and returns the job for them. */
    stepAfterSearch: async (): Promise<BulkJob> => {
      await doStep(fixture.account, await nextStep(), false);
      return nextStep();
    },
  };
}
