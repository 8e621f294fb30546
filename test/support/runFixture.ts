/** Workflow runs with the real stores in one process. They are started, and continue with an endpoint's submissions. */
import type { Account } from '../../lambdas/account/account.ts';
import type { Attempt, Message, WorkflowRole } from '../../lambdas/message/message.ts';
import type { EndRecord, JournalRecord, RunStart } from '../../lambdas/workflow/rules/journal.ts';
import type { SubmissionMessage } from '../../lambdas/workflow/rules/workflowMessage.ts';
import { requestOf, type Fixture } from './fixture.ts';
import { endpoint, startSettings } from './startSettings.ts';

interface Starting {
  readonly payload?: string;
  readonly notBefore?: number;
  readonly details?: Partial<RunStart>;
  readonly account?: Account;
}

export interface WrittenStep {
  readonly stepId: number;
  readonly stepName: string;
  readonly stepType: string;
  readonly concurrent: number;
  readonly targetStep?: number;
  readonly out?: string;
  readonly sleepFor?: number | string;
  readonly sleepUntil?: number;
}

export const resultOf = (stepId: number, out = '"done"', more: Partial<WrittenStep> = {}): WrittenStep => ({
  stepId,
  stepName: `step ${stepId}`,
  stepType: 'Run',
  out,
  concurrent: 1,
  ...more,
});

interface Recorded {
  readonly status?: number;
  readonly error?: string;
  readonly headers?: Attempt['response']['headers'];
  readonly body?: string;
  readonly recordedAt?: number;
  readonly nextDeliveryAt?: number;
}

/** Call it once the fixture is open. */
export async function openRunFixture(fixture: Fixture) {
  const [start, submit, change, prepare, journals, runList, messages, history, bodies, journal, follow] =
    await Promise.all([
      import('../../lambdas/workflow/steps/start.ts'),
      import('../../lambdas/workflow/steps/submit.ts'),
      import('../../lambdas/workflow/runs/changeRun.ts'),
      import('../../lambdas/workflow/steps/prepare.ts'),
      import('../../lambdas/workflow/store/journals.ts'),
      import('../../lambdas/workflow/store/runList.ts'),
      import('../../lambdas/message/messages.ts'),
      import('../../lambdas/message/history.ts'),
      import('../../lambdas/message/bodies.ts'),
      import('../../lambdas/workflow/runs/loadRun.ts'),
      import('../../lambdas/workflow/runs/follow.ts'),
    ]);
  const keyOf = (runId: string) => ({ accountId: fixture.account.id, runId });
  return {
    keyOf,
    snapshotOf: async (runId: string) => {
      const snapshot = await journals.loadSnapshot(keyOf(runId));
      if (snapshot === undefined) throw new Error(`There is no run ${runId}.`);
      return snapshot;
    },
    start: (runId: string, { payload = '{"n":1}', notBefore, details, account }: Starting = {}) =>
      start.startRun(account ?? fixture.account, {
        runId,
        start: startSettings(details),
        payload: Buffer.from(payload),
        notBefore: notBefore ?? Date.now(),
      }),
    /** Submits a result, or all plans of a parallel group. */
    submit: async (
      runId: string,
      steps: readonly WrittenStep[],
      config: Record<string, string> = {},
      url = endpoint,
    ) => {
      const message: SubmissionMessage = {
        kind: 'submission',
        runId,
        createdAt: undefined,
        url,
        features: new Set(),
        invokeDepth: 0,
      };
      const parts = await Promise.all(
        steps.map((step) =>
          prepare.preparePart(fixture.account, {
            request: requestOf(url, config, JSON.stringify(step)),
            message,
          }),
        ),
      );
      return submit.submitSteps(fixture.account, message, parts);
    },
    /** Records the next attempt of a run's message, as a worker would. */
    attempt: async (messageId: string, state: Attempt['state'], more: Recorded = {}): Promise<void> => {
      const found = await history.loadMessage({ accountId: fixture.account.id, messageId });
      if (found === undefined) throw new Error(`There is no message ${messageId}.`);
      const { status = state === 'DELIVERED' ? 200 : 500, error, headers = [], body = '' } = more;
      const recordedAt = more.recordedAt ?? Date.now();
      await messages.recordAttempt(found.message, {
        number: found.attempts.length,
        state,
        startedAt: recordedAt - 5,
        recordedAt,
        nextDeliveryAt: more.nextDeliveryAt,
        response: { status, error, headers, body: Buffer.from(body) },
      });
    },
    /** Stores a run's message that is not an entry of its list. Nothing is sent. */
    message: async (
      runId: string,
      messageId: string,
      role: WorkflowRole,
      body: string,
      more: Partial<Message> = {},
    ): Promise<Message> => {
      const snapshot = await journals.loadSnapshot(keyOf(runId));
      if (snapshot === undefined) throw new Error(`There is no run ${runId}.`);
      const { createdAt, startSeq, keptUntil } = snapshot;
      const message: Message = {
        url: endpoint,
        method: 'POST',
        headers: [],
        maxRetries: 3,
        timeoutMs: 30_000,
        labels: [],
        messageId,
        accountId: fixture.account.id,
        prefix: 'Upstash',
        createdAt: Date.now(),
        notBefore: Date.now(),
        callerIp: '192.0.2.7',
        workflow: { role, runId, createdAt, startSeq },
        expiresAt: keptUntil,
        ...more,
      };
      await messages.putMessage(message, await bodies.storeBody(message, Buffer.from(body), Date.now()));
      return message;
    },
    end: async (runId: string, record: Omit<EndRecord, 'kind' | 'at'>): Promise<void> => {
      const { snapshot } = await change.changeRun(keyOf(runId), () => ({
        record: { kind: 'end', at: Date.now(), ...record },
        result: undefined,
      }));
      if (snapshot === undefined) return;
      const key = keyOf(runId);
      await runList.listEnd(
        follow.listedRun(key, snapshot, await change.settingsOfRun(key, snapshot)),
        snapshot.keptUntil,
      );
    },
    journalOf: (runId: string) => journal.loadRunJournal(keyOf(runId), 0),
    append: async (runId: string, record: JournalRecord): Promise<void> => {
      await change.changeRun(keyOf(runId), () => ({ record, result: undefined }));
    },
  };
}
export type RunFixture = Awaited<ReturnType<typeof openRunFixture>>;
