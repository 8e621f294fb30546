/** Runs that wait for events, with the real stores in one process: their endpoints' submissions, and the results. */
import { randomBytes } from 'node:crypto';
import * as z from 'zod/mini';
import { canonicalize } from '../../lambdas/request/dialect.ts';
import type { Account } from '../../lambdas/account/account.ts';
import type { Header } from '../../lambdas/shared/headers.ts';
import type { Snapshot, JournalRecord, ListedEntry } from '../../lambdas/workflow/rules/journal.ts';
import { readWorkflowMessage } from '../../lambdas/workflow/rules/workflowMessage.ts';
import type { Job } from '../../lambdas/job/job.ts';
import { answered } from './answered.ts';
import { requestOf, type Fixture } from './fixture.ts';

export const endpoint = 'http://127.0.0.1:9/orders';
const prefixes = ['Svc', 'Upstash'];

const importServices = async () => {
  const [start, waits, run, all, list, hooks, checking, end, journals, waiters, bodies, submit, prepare] =
    await Promise.all([
      import('../../lambdas/workflow/steps/start.ts'),
      import('../../lambdas/workflow/waits.ts'),
      import('../../lambdas/workflow/waits/notifyRun.ts'),
      import('../../lambdas/workflow/waits/notify.ts'),
      import('../../lambdas/workflow/notify.ts'),
      import('../../lambdas/workflow/hooks.ts'),
      import('../../lambdas/workflow/waits/checkWait.ts'),
      import('../../lambdas/workflow/steps/endRun.ts'),
      import('../../lambdas/workflow/store/journals.ts'),
      import('../../lambdas/workflow/store/waiters.ts'),
      import('../../lambdas/message/bodies.ts'),
      import('../../lambdas/workflow/steps/submit.ts'),
      import('../../lambdas/workflow/steps/prepare.ts'),
    ]);
  return {
    startRun: start.startRun,
    wait: waits.wait,
    notifyRun: run.notifyRun,
    notify: all.notify,
    listWaiters: list.listWaiters,
    callHook: hooks.callHook,
    checkWait: checking.checkWait,
    endRun: end.endRun,
    loadSnapshot: journals.loadSnapshot,
    readJournal: journals.readJournal,
    waitersOf: waiters.waitersOf,
    loadBody: bodies.loadBody,
    submitSteps: submit.submitSteps,
    preparePart: prepare.preparePart,
  };
};

export interface WaitOptions {
  readonly stepId?: number;
  readonly stepName?: string;
  readonly stepType?: string;
  readonly concurrent?: number;
  readonly timeout?: number | string;
  readonly url?: string;
  readonly timeoutUrl?: string;
  readonly headers?: readonly Header[];
  readonly timeoutHeaders?: Readonly<Record<string, readonly string[]>>;
  readonly account?: Account;
}

interface StartOptions {
  readonly features?: readonly ('WF_TriggerOnConfig' | 'LazyFetch')[];
  readonly account?: Account;
}

/** The fields of a result that the endpoint reads. */
const resultShape = z.object({
  stepId: z.number(),
  waitEventId: z.string(),
  out: z.optional(z.string()),
  waitTimeout: z.optional(z.boolean()),
});

export interface Result {
  readonly entry: ListedEntry;
  readonly stepId: number;
  readonly eventId: string;
  /** The event; undefined after a timeout. */
  readonly event: string | undefined;
  readonly isTimeout: boolean;
}

/** Makes a webhook's id, as the published client does. */
export const newWebhookId = (): string => `evt_${randomBytes(12).toString('base64url').slice(0, 15)}`;

function readMessage(headers: readonly Header[]) {
  const canonical = canonicalize(headers, [], prefixes);
  const message = readWorkflowMessage(canonical, prefixes);
  if (message?.kind !== 'submission') throw new Error('It is no submission.');
  return message;
}

/** Call it once the fixture is open. */
export async function openWaitFixture(fixture: Fixture) {
  const services = await importServices();
  const { account } = fixture;
  const keyOf = (runId: string) => ({ accountId: account.id, runId });
  let runs = 0;

  const headersOf = (runId: string): readonly Header[] => [
    ['content-type', 'application/json'],
    ['authorization', `Bearer ${Buffer.from('{"UserID":"acct","Password":"secret"}').toString('base64')}`],
    ['upstash-workflow-init', 'false'],
    ['upstash-workflow-runid', runId],
    ['upstash-workflow-url', endpoint],
    ['upstash-workflow-sdk-version', '1'],
    ['upstash-workflow-calltype', 'step'],
    ['upstash-feature-set', 'LazyFetch,InitialBody,WF_DetectTrigger,WF_TriggerOnConfig'],
    ['upstash-forward-upstash-workflow-sdk-version', '1'],
  ];

  async function recordsOf(runId: string): Promise<readonly { record: JournalRecord; snapshot: Snapshot }[]> {
    const rows: { record: JournalRecord; snapshot: Snapshot }[] = [];
    for await (const row of services.readJournal(keyOf(runId), 0)) rows.push(row);
    return rows;
  }

  async function snapshotOf(runId: string): Promise<Snapshot> {
    const snapshot = await services.loadSnapshot(keyOf(runId));
    if (snapshot === undefined) throw new Error(`There is no run ${runId}.`);
    return snapshot;
  }

  return {
    ...services,
    keyOf,
    snapshotOf,
    recordsOf,
    start: async ({ features = ['WF_TriggerOnConfig'], account: owner = account }: StartOptions = {}) => {
      runs += 1;
      const runId = `wfr_${runs}`;
      await services.startRun(owner, {
        runId,
        payload: Buffer.from('{}'),
        notBefore: Date.now(),
        start: {
          url: endpoint,
          prefix: 'Upstash',
          features,
          sdkVersion: '1',
          isUnknownClient: false,
          forwarded: [['upstash-workflow-sdk-version', '1']],
          settings: { maxRetries: 3, labels: [], timeoutMs: 30_000 },
          invokeDepth: 0,
          callerIp: '192.0.2.7',
        },
      });
      return runId;
    },
    /** Plans a group of branches that wait, from a step on; returns the run's id. */
    plan: async (runId: string, count: number, first = 1): Promise<string> => {
      const message = readMessage(headersOf(runId));
      const parts = await Promise.all(
        Array.from({ length: count }, (_, index) =>
          services.preparePart(account, {
            message,
            request: requestOf(
              endpoint,
              {},
              JSON.stringify({
                stepId: 0,
                stepName: `wait ${index + first}`,
                stepType: 'Wait',
                concurrent: count,
                targetStep: index + first,
              }),
            ),
          }),
        ),
      );
      await services.submitSteps(account, message, parts);
      return runId;
    },
    /** Creates a webhook as an endpoint does; returns its id. */
    createWebhook: async (runId: string, stepId = 1, eventId = newWebhookId()): Promise<string> => {
      const message = readMessage(headersOf(runId));
      const out = JSON.stringify({ webhookUrl: `https://api.example.com/${eventId}`, eventId });
      const step = { stepId, stepName: 'make', stepType: 'CreateWebhook', out, concurrent: 1 };
      const part = { message, request: requestOf(endpoint, {}, JSON.stringify(step)) };
      await services.submitSteps(account, message, [await services.preparePart(account, part)]);
      return eventId;
    },
    wait: (runId: string, eventId: string, options: WaitOptions = {}) => {
      const {
        stepId = 1,
        stepName = `wait ${stepId}`,
        stepType = 'Wait',
        concurrent = 1,
        timeout = '1h',
        headers = [],
      } = options;
      const all = [...headersOf(runId), ...headers];
      const own = all.flatMap(([name, value]): [string, string[]][] =>
        name.startsWith('upstash-') ? [[name, [value]]] : [],
      );
      const owner = options.account ?? account;
      const canonical = canonicalize(all, [], prefixes);
      const body = Buffer.from(
        JSON.stringify({
          url: options.url ?? endpoint,
          timeout,
          timeoutUrl: options.timeoutUrl ?? options.url ?? endpoint,
          timeoutHeaders: Object.fromEntries([...own, ...Object.entries(options.timeoutHeaders ?? {})]),
          step: { stepId, stepName, stepType, concurrent },
        }),
      );
      return answered(owner, { config: canonical.config, body }, () =>
        services.wait(owner, { eventId, canonical, headers: all, host: 'api.example.com', body }),
      );
    },
    /** The results of a run's waits, in the order of recording. */
    resultsOf: async (runId: string): Promise<readonly Result[]> => {
      const results: Result[] = [];
      for (const { record } of await recordsOf(runId)) {
        if (record.kind !== 'steps') continue;
        for (const entry of record.entries) {
          const body = Buffer.from(await services.loadBody(entry.messageId, entry.body));
          const read = resultShape.safeParse(JSON.parse(body.toString()));
          if (!read.success) continue;
          const { stepId, waitEventId, out, waitTimeout } = read.data;
          results.push({
            entry,
            stepId,
            eventId: waitEventId,
            event: out === undefined ? undefined : Buffer.from(out, 'base64').toString(),
            isTimeout: waitTimeout === true,
          });
        }
      }
      return results;
    },
    /** Checks a run's wait, as its job does. */
    check: async (runId: string, seq: number): Promise<void> =>
      services.checkWait({ kind: 'waitTimeout', ...keyOf(runId), seq, dueAt: Date.now() }),
    /** The runs in the rows of an event's waiters, even if they no longer wait. */
    rowsOf: async (eventId: string): Promise<readonly string[]> => {
      const found: string[] = [];
      for await (const { runId } of services.waitersOf(account.id, eventId)) found.push(runId);
      return found;
    },
  };
}
export type WaitFixture = Awaited<ReturnType<typeof openWaitFixture>>;

/** The messages whose first attempts were sent, including repetitions. */
export const attemptsIn = (jobs: readonly Job[]): readonly string[] =>
  jobs.flatMap((job) => (job.kind === 'attempt' ? [job.messageId] : []));
