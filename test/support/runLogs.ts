import type { Header } from '../../lambdas/shared/headers.ts';
import { newId } from '../../lambdas/shared/ids.ts';
import type { Fixture } from './fixture.ts';

/** Call it once the fixture is open. */
export async function openRunLogs(fixture: Fixture) {
  const { listRuns } = await import('../../lambdas/workflow/logs.ts');
  const page = (...query: readonly Header[]) => listRuns(fixture.account, query);
  return {
    page,
    /** The only run with an id. */
    runOf: async (runId: string, ...query: readonly Header[]) => {
      const { runs } = await page(['workflowRunId', runId], ...query);
      const [run] = runs;
      if (run === undefined || runs.length > 1) throw new Error(`${runs.length} runs have the id ${runId}.`);
      return run;
    },
  };
}
export type RunLogs = Awaited<ReturnType<typeof openRunLogs>>;
export type Run = Awaited<ReturnType<RunLogs['runOf']>>;

/** Each group's type, and its steps' states. */
export const outlineOf = (run: Run): readonly string[] =>
  run.steps.map(({ type, steps }) => [type, ...steps.map(({ state }) => state)].join(' '));

export const stepsOf = (run: Run) => run.steps.flatMap((group) => (group.type === 'next' ? [] : group.steps));

export const idsOf = (runs: readonly Run[]): readonly string[] =>
  runs.map(({ workflowRunId }) => workflowRunId);

export const newMessageId = (): string => newId('msg', Date.now());
