/** Acts of endpoints and clients on runs, besides submitting steps; and readers of a run's rows. */
import { vi } from 'vitest';
import type { JournalRecord, WaitRecord } from '../../lambdas/workflow/rules/journal.ts';
import type { StepIdentity } from '../../lambdas/workflow/rules/step.ts';
import type { Job } from '../../lambdas/job/job.ts';
import { setClockAhead } from './clockAhead.ts';
import type { Fate } from './faults.ts';
import { endpoint } from './startSettings.ts';
import { requestOf, type Fixture } from './fixture.ts';

const ofClient = { url: endpoint, features: new Set<never>(), invokeDepth: 0, createdAt: undefined };

export const stepOf = (stepId: number, stepType: StepIdentity['stepType'], concurrent = 1): StepIdentity => ({
  stepId,
  stepName: `step ${stepId}`,
  stepType,
  concurrent,
});

/** A run's wait for an event, as its journal has it. */
export const waitRecord = (stepId: number, more: Partial<WaitRecord> = {}): WaitRecord => ({
  kind: 'wait',
  at: Date.now(),
  step: stepOf(stepId, 'Wait'),
  messageId: 'msg_wait',
  eventId: 'e',
  url: endpoint,
  timeout: '1d',
  deadline: Date.now(),
  timeoutUrl: endpoint,
  forwarded: [],
  timeoutForwarded: [],
  timeoutHeaders: [],
  headers: [],
  ...more,
});

/** Call it once the fixture is open. */
export async function openRunActs(fixture: Fixture) {
  const [call, invoke, end, prepare, journals, list, journal, bodies] = await Promise.all([
    import('../../lambdas/workflow/steps/call.ts'),
    import('../../lambdas/workflow/steps/invoke.ts'),
    import('../../lambdas/workflow/endRunByRequest.ts'),
    import('../../lambdas/workflow/steps/prepare.ts'),
    import('../../lambdas/workflow/store/journals.ts'),
    import('../../lambdas/workflow/store/runList.ts'),
    import('../../lambdas/workflow/rules/entry.ts'),
    import('../../lambdas/message/bodies.ts'),
  ]);
  const { account } = fixture;
  const keyOf = (runId: string) => ({ accountId: account.id, runId });
  async function records(runId: string): Promise<readonly JournalRecord[]> {
    const all: JournalRecord[] = [];
    for await (const { record } of journals.readJournal(keyOf(runId), 0)) all.push(record);
    return all;
  }

  return {
    call: async (
      runId: string,
      stepId: number,
      url: string,
      { body = 'asked', concurrent = 1, callback = endpoint } = {},
    ) => {
      const step = stepOf(stepId, 'Call', concurrent);
      const request = requestOf(url, { callback, retries: '0' }, body);
      const message = { kind: 'call', runId, step, ...ofClient } as const;
      return call.submitCall(account, await prepare.preparePart(account, { request, message }));
    },
    invoke: async (
      invoker: { runId: string; createdAt: number },
      stepId: number,
      runId: string,
      url = endpoint,
    ) => {
      const body = {
        body: '{"invoked":true}',
        headers: { 'Upstash-Forward-X-Step': ['mine'] },
        workflowRunId: invoker.runId,
        workflowRunCreatedAt: invoker.createdAt,
        workflowUrl: url,
        step: stepOf(stepId, 'Invoke'),
      };
      const request = requestOf(url, {}, JSON.stringify(body));
      const message = {
        kind: 'invoke',
        runId,
        sdkVersion: '1',
        isUpgrade: false,
        isUnknownClient: false,
        ...ofClient,
      } as const;
      return invoke.submitInvoke(account, await prepare.preparePart(account, { request, message }));
    },
    /** Ends a run like its endpoint after the function has returned, or like a user. */
    end: (runId: string, { cancel = false, body = '' } = {}): Promise<void> =>
      end.endRunByRequest(account, { runId, cancel, body: Buffer.from(body) }),
    /** Delivers the job that was sent before a start was recorded. The clock is restored after the test. */
    checkStart: async (runId: string, messageId: string): Promise<void> => {
      setClockAhead(60_000);
      await fixture.perform({ kind: 'runStart', ...keyOf(runId), messageId }, { isAgain: false });
    },
    /** Takes all jobs of the next hour from the queues. */
    drainAhead: async (): Promise<void> => {
      setClockAhead(3_600_000);
      await fixture.drain();
      vi.restoreAllMocks();
    },
    loseBodies: async (runId: string): Promise<void> => {
      for await (const { record } of journals.readJournal(keyOf(runId), 0)) {
        for (const { messageId, body } of journal.bodiesOf(record)) await bodies.deleteBody(messageId, body);
      }
    },
    records,
    /** The kinds of all records of the runs with an id. */
    kinds: async (runId: string): Promise<readonly string[]> =>
      (await records(runId)).map(({ kind }) => kind),
    /** The list's states of the runs with an id, oldest first. */
    listed: async (runId: string): Promise<readonly string[]> => {
      const found: (readonly [at: number, state: string])[] = [];
      for (const shard of list.runShardsOf(account.id)) {
        for await (const run of list.listRuns(shard, {})) {
          if (run.runId === runId) found.push([run.createdAt, run.state]);
        }
      }
      return found.toSorted(([one], [other]) => one - other).map(([, state]) => state);
    },
    /**
     * Runs something in a process that dies, and again in a living one, like a client without an answer.
     *
     * @returns both answers; undefined for the dead process's
     */
    twice: async <T>(fate: Fate, act: () => Promise<T>): Promise<readonly [T | undefined, T]> => {
      const first = await fixture.underFate(fate, act);
      return [first?.value, await act()];
    },
  };
}
export type RunActs = Awaited<ReturnType<typeof openRunActs>>;

/** The messages of the attempts among jobs, in order and without duplicates. */
export const attemptsIn = (job: readonly Job[]): readonly string[] => [
  ...new Set(job.flatMap((one) => (one.kind === 'attempt' ? [one.messageId] : []))),
];
