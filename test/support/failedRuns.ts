/** Failed workflow runs, with the real stores in one process: see {@link openFixture}. */
import type { ServerResponse } from 'node:http';
import type { ListedEntry, RunStart, StepsRecord, Snapshot } from '../../lambdas/workflow/rules/journal.ts';
import type { Delivery, Inbox } from './receiver.ts';
import type { Fixture } from './fixture.ts';
import { callbackTo, startSettings } from './startSettings.ts';

/** A run's steps in the order of recording: results by number, and plans of a group by its steps' numbers. */
export type RecordedStep =
  | { readonly result: number; readonly out?: string | undefined; readonly stepName?: string }
  | { readonly plans: readonly number[] };

export interface Failing {
  readonly steps?: readonly RecordedStep[];
  readonly payload?: string | Uint8Array;
  readonly start?: Partial<Omit<RunStart, 'settings'>> & {
    readonly settings?: Partial<RunStart['settings']>;
  };
  readonly failureUrl?: string | undefined;
}

/** An entry of a list, as an endpoint reads it. */
export interface ShownEntry {
  readonly messageId: string;
  readonly body: string;
  readonly callType: string;
}

/** A delivery's list, with bodies as text. */
export function listIn({ body }: Pick<Delivery, 'body'>): readonly ShownEntry[] {
  const entries = JSON.parse(body.toString()) as readonly ShownEntry[];
  return entries.map((entry) => ({ ...entry, body: Buffer.from(entry.body, 'base64').toString() }));
}

const stepOf = (stepId: number, out: string, concurrent = 1) =>
  ({ stepId, stepName: `step ${stepId}`, stepType: 'Run', out, concurrent }) as const;

export const resultBody = (stepId: number, out = `out ${stepId}`): string =>
  JSON.stringify(stepOf(stepId, out));
export const planBody = (targetStep: number, concurrent: number): string =>
  JSON.stringify({ stepId: 0, stepName: `step ${targetStep}`, stepType: 'Run', concurrent, targetStep });

export async function failedRunsIn(fixture: Fixture) {
  const [starting, changing, messages, ids, journals, removing, listing] = await Promise.all([
    import('../../lambdas/workflow/steps/start.ts'),
    import('../../lambdas/workflow/runs/changeRun.ts'),
    import('../../lambdas/workflow/runs/follow.ts'),
    import('../../lambdas/shared/ids.ts'),
    import('../../lambdas/workflow/store/journals.ts'),
    import('../../lambdas/deadLetter/rows.ts'),
    import('../../lambdas/workflow/deadLetters.ts'),
  ]);
  const { account } = fixture;

  /** An endpoint that fails its deliveries until the test changes that, or gives the answers of the test. */
  function endpoint(answer?: (delivery: Delivery, response: ServerResponse) => boolean) {
    const state = { isWell: false };
    const inbox = fixture.receiver.inbox((delivery, response) => {
      if (answer?.(delivery, response) === true) return;
      response
        .writeHead(state.isWell ? 200 : 500, { 'content-type': 'application/json' })
        .end('{"error":"Error","message":"the step failed"}');
    });
    return { inbox, state };
  }

  const startOf = (url: string, { start = {}, failureUrl }: Failing): RunStart => {
    const { settings, ...details } = start;
    const failureCallback =
      failureUrl === undefined ? undefined : callbackTo(failureUrl, { headers: [['x-told', 'yes']] });
    return startSettings({
      url,
      features: ['LazyFetch', 'InitialBody', 'WF_TriggerOnConfig'],
      forwarded: [['x-tenant', 'acme']],
      failureCallback,
      ...details,
      settings: { maxRetries: 0, labels: ['nightly'], timeoutMs: 30_000, ...settings },
    });
  };

  /** Records steps as if the endpoint had submitted them, and delivers the last. */
  async function record(runId: string, start: RunStart, steps: readonly RecordedStep[]): Promise<void> {
    const key = { accountId: account.id, runId };
    let last: readonly ListedEntry[] = [];
    let snapshot: Snapshot | undefined;
    const entryOf = async (
      body: string,
      step: NonNullable<ListedEntry['step']>,
      keptUntil: number,
    ): Promise<ListedEntry> => {
      const createdAt = Date.now();
      const messageId = ids.newId('msg', createdAt);
      const of = { accountId: account.id, messageId, expiresAt: keptUntil };
      const bytes = Buffer.from(body);
      return {
        messageId,
        url: start.url,
        createdAt,
        notBefore: createdAt,
        body: await changing.storeEntryBody(of, bytes, createdAt),
        bodyBytes: bytes.length,
        step,
        forwarded: [],
      };
    };
    const keptUntil = changing.neededUntil(account, start.settings, Date.now()) + changing.spareMs;
    for (const step of steps) {
      if ('result' in step) {
        const { out: _out, ...details } = stepOf(step.result, '');
        const body = resultBody(step.result, step.out);
        const { stepName = details.stepName } = step;
        last = [await entryOf(body, { kind: 'result', ...details, stepName }, keptUntil)];
      } else {
        const concurrent = step.plans.length;
        last = await Promise.all(
          step.plans.map((stepId) =>
            entryOf(
              planBody(stepId, concurrent),
              { kind: 'plan', stepId, stepName: `step ${stepId}`, stepType: 'Run', concurrent },
              keptUntil,
            ),
          ),
        );
      }
      const note: StepsRecord = { kind: 'steps', at: Date.now(), entries: last };
      ({ snapshot } = await changing.changeRun(key, () => ({ record: note, result: undefined })));
    }
    if (snapshot !== undefined) await messages.deliverEntries({ key, snapshot, start }, account, last, false);
  }

  /** Starts a run, and fails it at its last step. */
  async function fail(url: string, failing: Failing = {}): Promise<{ readonly runId: string }> {
    const start = startOf(url, failing);
    const runId = `wfr_${Math.random().toString(36).slice(2)}`;
    const { steps = [], payload = 'the payload' } = failing;
    await starting.startRun(account, {
      runId,
      start,
      payload: Buffer.from(payload),
      notBefore: Date.now(),
    });
    if (steps.length > 0) {
      // The delivery of the payload was for a step that was done before.
      await fixture.drain();
      await record(runId, start, steps);
    }
    return { runId };
  }

  /** The dead letters of runs that were started with a URL, newest first. */
  async function deadLettersOf(url: string, query: readonly (readonly [string, string])[] = []) {
    const { messages: found } = await listing.listRunDeadLetters(account, [['workflowUrl', url], ...query]);
    return found;
  }

  async function failed(inbox: Inbox, failing: Failing = {}) {
    const { runId } = await fail(inbox.url, failing);
    await fixture.doJobs();
    const [deadLetter] = await deadLettersOf(inbox.url, [['workflowRunId', runId]]);
    if (deadLetter === undefined) throw new Error(`The run ${runId} has no dead letter.`);
    return { runId, dlqId: deadLetter.dlqId, createdAt: deadLetter.workflowCreatedAt };
  }

  const isThere = async (dlqId: string): Promise<boolean> =>
    (await removing.loadDeadLetter(account.id, dlqId, Date.now())) !== undefined;

  /** All records of the runs with an id. */
  async function journalOf(runId: string) {
    const rows = [];
    for await (const row of journals.readJournal({ accountId: account.id, runId }, 0)) rows.push(row);
    return rows;
  }

  return { endpoint, fail, failed, deadLettersOf, isThere, journalOf, record };
}

export type FailedRuns = Awaited<ReturnType<typeof failedRunsIn>>;
