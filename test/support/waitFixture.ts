/** Runs that wait for events, with the real stores in one process: their endpoints' submissions, and the results. */
import { randomBytes } from 'node:crypto';
import * as z from 'zod/mini';
import { canonicalize } from '../../lambdas/request/dialect.ts';
import type { Account } from '../../lambdas/account/account.ts';
import type { Header } from '../../lambdas/shared/headers.ts';
import type { Snapshot, JournalRecord, ListedEntry } from '../../lambdas/workflow/rules/journal.ts';
import type { Job } from '../../lambdas/job/job.ts';
import { answered } from './answered.ts';
import type { Fixture } from './fixture.ts';
import { openRunFixture } from './runFixture.ts';

export const endpoint = 'http://127.0.0.1:9/orders';
const prefixes = ['Svc', 'Upstash'];

const importServices = async () => {
  const [waits, run, all, list, hooks, checking, end, journals, waiters, bodies] = await Promise.all([
    import('../../lambdas/workflow/waitForEvent.ts'),
    import('../../lambdas/workflow/waits/notifyRun.ts'),
    import('../../lambdas/workflow/waits/notifyAll.ts'),
    import('../../lambdas/workflow/notify.ts'),
    import('../../lambdas/workflow/hooks.ts'),
    import('../../lambdas/workflow/waits/checkWait.ts'),
    import('../../lambdas/workflow/steps/end.ts'),
    import('../../lambdas/workflow/store/journals.ts'),
    import('../../lambdas/workflow/store/waiters.ts'),
    import('../../lambdas/message/bodies.ts'),
  ]);
  return {
    ...waits,
    ...run,
    ...all,
    ...list,
    ...hooks,
    ...checking,
    ...end,
    ...journals,
    ...waiters,
    ...bodies,
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

/** Call it once the fixture is open. */
export async function openWaitFixture(fixture: Fixture) {
  const services = await importServices();
  const runFixture = await openRunFixture(fixture);
  const { account } = fixture;
  const { keyOf, snapshotOf } = runFixture;
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

  return {
    ...services,
    keyOf,
    snapshotOf,
    /** Fills a run's list, except for some bytes. The first step is over. */
    fill: async (runId: string, leftBytes: number): Promise<void> => {
      const [first] = await recordsOf(runId);
      if (first?.record.kind !== 'start') throw new Error(`There is no run ${runId}.`);
      const step = { kind: 'result', stepId: 1, stepName: 'large', stepType: 'Run', concurrent: 1 } as const;
      const entry = { ...first.record.entry, step, bodyBytes: 32 * 1_024 * 1_024 - leftBytes };
      await runFixture.append(runId, { kind: 'steps', at: Date.now(), entries: [entry] });
    },
    recordsOf,
    start: async ({ features = ['WF_TriggerOnConfig'], account: owner = account }: StartOptions = {}) => {
      runs += 1;
      const runId = `wfr_${runs}`;
      await runFixture.start(runId, {
        payload: '{}',
        account: owner,
        details: { url: endpoint, features, forwarded: [['upstash-workflow-sdk-version', '1']] },
      });
      return runId;
    },
    /** Plans a group of branches that wait, from a step on; returns the run's id. */
    plan: async (runId: string, count: number, first = 1): Promise<string> => {
      const plans = Array.from({ length: count }, (_, index) => ({
        ...{ stepId: 0, stepName: `wait ${index + first}`, stepType: 'Wait' },
        ...{ concurrent: count, targetStep: index + first },
      }));
      await runFixture.submit(runId, plans, {}, endpoint);
      return runId;
    },
    /** Creates a webhook as an endpoint does; returns its id. */
    createWebhook: async (runId: string, stepId = 1, eventId = newWebhookId()): Promise<string> => {
      const out = JSON.stringify({ webhookUrl: `https://api.example.com/${eventId}`, eventId });
      const step = { stepId, stepName: 'make', stepType: 'CreateWebhook', out, concurrent: 1 };
      await runFixture.submit(runId, [step], {}, endpoint);
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
