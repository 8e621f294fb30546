import { AsyncLocalStorage } from 'node:async_hooks';
import { randomBytes } from 'node:crypto';
import { describe, expect, it, vi } from 'vitest';
import { fixture, runs, useFailedRuns } from '../../support/useRuns.ts';
import { imported } from '../../support/imported.ts';
import { entriesOf } from '../../../lambdas/workflow/rules/entry.ts';
import type { Job } from '../../../lambdas/job/job.ts';
import { itAtEachDeath } from '../../support/faults.ts';
import { listIn, planBody, resultBody, type RecordedStep } from '../../support/failedRuns.ts';
import { attemptsIn } from '../../support/runActs.ts';
import { sizeOf } from '../../support/sample.ts';
import { configOf } from '../../support/fixture.ts';

useFailedRuns();
const services = imported(() => import('../../../lambdas/workflow/resume.ts'));

const asItWas = { prefix: 'Upstash', config: configOf({}), host: 'api.example.com' };
const withHeaders = (headers: Readonly<Record<string, string>>) => ({
  ...asItWas,
  config: configOf(headers),
});

type Query = readonly (readonly [string, string])[];
const resumeMany = (query: Query, request = asItWas) => services.resumeRuns(fixture.account, query, request);
const resume = (dlqId: string, request = asItWas) => services.resumeRun(fixture.account, dlqId, request);
const restart = (dlqId: string, request = asItWas) => services.restartRun(fixture.account, dlqId, request);
const byIds = (dlqIds: readonly string[]): Query => dlqIds.map((id) => ['dlqIds', id]);

/** Lets a minute pass, after which an earlier process counts as dead. */
function later(): void {
  const { now } = Date;
  vi.spyOn(Date, 'now').mockImplementation(() => now() + 60_000);
}

const results = (count: number): readonly RecordedStep[] =>
  Array.from({ length: count }, (_, index) => ({ result: index + 1 }));

const bodiesIn = (delivery: Parameters<typeof listIn>[0] | undefined): readonly string[] =>
  delivery === undefined ? [] : listIn(delivery).map(({ body }) => body);

/** Takes all jobs, and returns the messages of a run that they deliver. Earlier tests' delayed jobs may be among them. */
async function sentOf(runId: string | undefined): Promise<readonly Job[]> {
  const jobs = await fixture.drain();
  const isOfRun = await Promise.all(
    jobs.map(async (job) => {
      const found = job.kind === 'attempt' ? await fixture.loadMessage(job) : undefined;
      return found?.message.workflow?.runId === runId;
    }),
  );
  return jobs.filter((_, index) => isOfRun[index]);
}

describe('a run that is resumed', () => {
  it('continues under a new id with everything the failed run recorded, and removes the dead letter', async () => {
    const { inbox, state } = runs.endpoint();
    const failed = await runs.failed(inbox, { steps: results(3) });
    state.isWell = true;
    const run = await resume(failed.dlqId);
    expect(run.workflowRunId).toMatch(/^wfr_[0-9A-Z]{26}$/);
    expect(run.workflowRunId).not.toBe(failed.runId);
    expect(await runs.isThere(failed.dlqId)).toBe(false);

    await fixture.doJobs();
    const [before, after] = inbox.deliveries;
    expect(inbox.deliveries).toHaveLength(2);
    expect(bodiesIn(after)).toEqual(['the payload', resultBody(1), resultBody(2), resultBody(3)]);
    const idsBefore = new Set(before && listIn(before).map(({ messageId }) => messageId));
    const idsAfter = after && listIn(after).map(({ messageId }) => messageId);
    expect(idsAfter?.some((id) => idsBefore.has(id))).toBe(false);
    expect(after?.headers).toMatchObject({
      'upstash-workflow-runid': run.workflowRunId,
      'upstash-workflow-createdat': String(run.workflowCreatedAt),
      'upstash-retried': '0',
      'x-tenant': 'acme',
    });
    const [first, ...others] = await runs.journalOf(run.workflowRunId);
    expect(first?.record).toMatchObject({
      kind: 'start',
      start: { resumes: { runId: failed.runId, createdAt: failed.createdAt } },
    });
    expect(others.at(-1)?.snapshot).toMatchObject({
      state: 'RUN_STARTED',
      entries: 4,
      steps: { result: '1-3' },
    });
  });

  it('continues with each branch of a parallel group that has no result', async () => {
    const { inbox, state } = runs.endpoint();
    const { runId } = await runs.fail(inbox.url, {
      steps: [{ result: 1 }, { plans: [2, 3, 4] }, { result: 3 }],
    });
    await fixture.doJobs();
    const [deadLetter] = await runs.deadLettersOf(inbox.url, [['workflowRunId', runId]]);
    state.isWell = true;
    const seen = inbox.deliveries.length;
    await resume(deadLetter?.dlqId ?? '');
    await fixture.doJobs();
    const lists = inbox.deliveries.slice(seen).map(bodiesIn);
    const begun = ['the payload', resultBody(1), planBody(2, 3)];
    expect(lists.toSorted((one, other) => one.length - other.length)).toEqual([
      begun,
      [...begun, planBody(3, 3), planBody(4, 3)],
    ]);
  });

  it('copies its bodies in the bucket, and has as few records as its entries need', async () => {
    const { inbox, state } = runs.endpoint();
    const large = Array.from({ length: 9_000 }, (_, index) => index.toString(36)).join('');
    // Seven kilobytes each, some of which cannot be compressed, so that one record has room for about forty.
    const stepName = '漢'.repeat(1_024);
    const random = () => randomBytes(3_750).toString('base64');
    const steps = Array.from({ length: 50 }, (_, index) => ({
      result: index + 1,
      stepName,
      out: index % 10 === 0 ? large.slice(index * 100) : random(),
    }));
    const failed = await runs.failed(inbox, { payload: `${large}payload`, steps });
    state.isWell = true;
    const { workflowRunId } = await resume(failed.dlqId);
    await fixture.doJobs();
    const [before, after] = inbox.deliveries.map(bodiesIn);
    expect(after).toHaveLength(51);
    expect(after).toEqual(before);
    const rows = await runs.journalOf(workflowRunId);
    expect(rows.map(({ snapshot }) => snapshot.seq)).toEqual([0, 1, 2]);
    const keysOf = async (runId: string): Promise<readonly string[]> =>
      (await runs.journalOf(runId)).flatMap(({ record }) =>
        entriesOf(record).flatMap(({ body }) => (body.at === 'bucket' ? [body.key] : [])),
      );
    const own = await keysOf(workflowRunId);
    expect(own.every((key) => /^\d+d\//.test(key))).toBe(true);
    expect(new Set([...own, ...(await keysOf(failed.runId))]).size).toBe(12);
  });

  it('uses the settings of the request, and keeps all others', async () => {
    const { inbox } = runs.endpoint();
    const told = fixture.receiver.inbox();
    const failed = await runs.failed(inbox, {
      steps: results(1),
      start: { settings: { retryDelay: '1000', labels: ['old'] }, features: ['LazyFetch'] },
    });
    const delayed = Date.now() + 3_600_000;
    const { workflowRunId } = await resume(
      failed.dlqId,
      withHeaders({
        retries: '2',
        delay: '1h',
        'flow-control-key': 'tenant',
        'flow-control-value': 'parallelism=3, rate=7, period=1m',
        'fair-key': 'customer',
        priority: 'low',
        label: 'new,other',
        'failure-callback': told.url,
      }),
    );
    const [first, second] = await runs.journalOf(workflowRunId);
    expect(first?.record).toMatchObject({
      start: {
        settings: {
          maxRetries: 2,
          retryDelay: '1000',
          labels: ['new', 'other'],
          flowControl: { key: 'tenant', parallelism: 3, rate: 7, period: 60 },
          fairKey: 'customer',
          priority: 'low',
          timeoutMs: 30_000,
        },
        failureCallback: {
          url: told.url,
          maxRetries: 0,
          headers: [
            ['x-tenant', 'acme'],
            ['content-type', 'application/json'],
          ],
        },
      },
    });
    expect(second?.record).toMatchObject({
      entries: [{ notBefore: expect.toSatisfy((at: number) => at >= delayed) as number }],
    });
  });

  it('reports its failure as the request says, or otherwise as before', async () => {
    const { inbox } = runs.endpoint();
    const url = fixture.receiver.inbox().url;
    const before = {
      url,
      method: 'PUT',
      headers: [],
      maxRetries: 1,
      timeoutMs: 9_000,
      labels: ['old'],
    } as const;
    const failed = await runs.failed(inbox, {
      steps: results(1),
      start: { failureCallback: { ...before, delayMs: 0 } },
    });
    const { workflowRunId } = await resume(
      failed.dlqId,
      withHeaders({
        'failure-callback': `${url}/again`,
        'failure-callback-retries': '0',
        'failure-callback-delay': '5s',
        'failure-callback-circuit': 'on',
      }),
    );
    const [first] = await runs.journalOf(workflowRunId);
    const now = { url: `${url}/again`, maxRetries: 0, delayMs: 5_000, circuit: true };
    expect(first?.record).toMatchObject({
      start: { failureCallback: { ...before, ...now, headers: [['content-type', 'application/json']] } },
    });
    await fixture.drain();
  });

  it('with wrong headers is refused before anything is read', async () => {
    fixture.reset();
    await expect(resumeMany([], withHeaders({ retries: 'many' }))).rejects.toMatchObject({ status: 400 });
    await expect(resumeMany([['count', '0']])).rejects.toMatchObject({ status: 400 });
    await expect(resumeMany([['label', '']])).rejects.toMatchObject({ status: 400 });
    expect(fixture.calls()).toBe(0);
  });
});

describe('a run that is restarted', () => {
  it('starts again from its payload, with its settings', async () => {
    const { inbox, state } = runs.endpoint();
    const failed = await runs.failed(inbox, { steps: results(3), payload: 'from the start' });
    state.isWell = true;
    const run = await restart(failed.dlqId);
    await fixture.doJobs();
    expect(bodiesIn(inbox.deliveries.at(-1))).toEqual(['from the start']);
    expect(inbox.deliveries.at(-1)?.headers).toMatchObject({
      'upstash-workflow-runid': run.workflowRunId,
      'x-tenant': 'acme',
    });
    const [start, ...more] = await runs.journalOf(run.workflowRunId);
    expect(more).toEqual([]);
    expect(start?.record).toMatchObject({ start: { settings: { labels: ['nightly'] } } });
    expect(await runs.isThere(failed.dlqId)).toBe(false);
  });

  it('that is unknown is not found', async () => {
    await expect(restart('dlq_01KDVDQ8G0N7B2Y5V8W1Q4RSTA')).rejects.toMatchObject({ status: 404 });
    await expect(resume('nonsense')).rejects.toMatchObject({ status: 404 });
  });
});

describe('a repeated request', () => {
  it('gets the run that the first one made, and makes no other', async () => {
    const { inbox, state } = runs.endpoint();
    const failed = await runs.failed(inbox, { steps: results(1) });
    state.isWell = true;
    const first = await resume(failed.dlqId);
    expect(await resume(failed.dlqId)).toEqual(first);
    expect(await resumeMany(byIds([failed.dlqId]))).toEqual({ workflowRuns: [first], cursor: '' });
    // A request to restart the run is not answered with the resumed run.
    await expect(restart(failed.dlqId)).rejects.toMatchObject({ status: 404 });
    await fixture.doJobs();
    expect(inbox.deliveries).toHaveLength(2);
  });

  it('at the same time makes one run, and all answers have its id', async () => {
    const { inbox, state } = runs.endpoint();
    const failed = await runs.failed(inbox, { steps: results(2) });
    state.isWell = true;
    // Stopped, so that no process counts as dead on a slow machine.
    vi.spyOn(Date, 'now').mockReturnValue(Date.now());
    const answers = await Promise.all(
      Array.from({ length: sizeOf({ ordinary: 4, thorough: 30 }) }, (_, index) =>
        index % 2 === 0
          ? resume(failed.dlqId)
          : resumeMany(byIds([failed.dlqId])).then(({ workflowRuns }) => workflowRuns[0]),
      ),
    );
    expect(new Set(answers.map((run) => run?.workflowRunId)).size).toBe(1);
    const sent = await sentOf(answers[0]?.workflowRunId);
    expect(sent).toHaveLength(1);
    await Promise.all(sent.map((job) => fixture.perform(job, { isAgain: false })));
    expect(inbox.deliveries).toHaveLength(2);
  });

  it('by processes that consider each other dead makes one run', async () => {
    const { inbox, state } = runs.endpoint();
    const failed = await runs.failed(inbox, { steps: results(2) });
    state.isWell = true;
    // Each reading is a minute later, so that every claim has expired.
    let time = Date.now();
    vi.spyOn(Date, 'now').mockImplementation(() => (time += 60_000));
    const answers = await Promise.allSettled(Array.from({ length: 5 }, () => resume(failed.dlqId)));
    const made = answers.flatMap((answer) =>
      answer.status === 'fulfilled' ? [answer.value.workflowRunId] : [],
    );
    expect(new Set(made).size).toBe(1);
    expect(new Set(attemptsIn(await sentOf(made[0]))).size).toBe(1);
  });
});

describe('a process that dies while it resumes', () => {
  async function failedRuns() {
    const { inbox, state } = runs.endpoint();
    const one = await runs.failed(inbox, { steps: results(1) });
    const other = await runs.failed(inbox, { steps: [{ plans: [1, 2] }] });
    state.isWell = true;
    const seen = inbox.deliveries.length;
    fixture.reset();
    return { inbox, seen, dlqIds: [one.dlqId, other.dlqId] as const };
  }

  const delivered = ({ inbox, seen }: Awaited<ReturnType<typeof failedRuns>>): ReadonlySet<string> =>
    new Set(
      inbox.deliveries
        .slice(seen)
        .map(
          (delivery) => `${delivery.headers['upstash-workflow-runid'] ?? ''} ${bodiesIn(delivery).join(' ')}`,
        ),
    );

  itAtEachDeath(
    'loses neither runs nor dead letters, and makes one run of each',
    async (fate) => {
      const there = await failedRuns();
      await fixture.underFate(fate, () => resumeMany(byIds(there.dlqIds)));
      later();
      const { workflowRuns, cursor } = await resumeMany(byIds(there.dlqIds));
      expect(cursor).toBe('');
      await fixture.doJobs();
      const [one, other] = workflowRuns.map(({ workflowRunId }) => workflowRunId);
      expect(delivered(there)).toEqual(
        new Set([
          `${one} the payload ${resultBody(1)}`,
          `${other} the payload ${planBody(1, 2)}`,
          `${other} the payload ${planBody(1, 2)} ${planBody(2, 2)}`,
        ]),
      );
      expect(await Promise.all(there.dlqIds.map(runs.isThere))).toEqual([false, false]);
    },
    { every: { ordinary: 9, thorough: 1 } },
  );

  it('makes 14 AWS calls for one run, and 24 for two', async () => {
    const callsOf = async (act: () => Promise<unknown>): Promise<number> => {
      // Stopped, so that what a process reads once in some seconds is not read again.
      const clock = vi.spyOn(Date, 'now').mockReturnValue(Date.now());
      await fixture.readUsage(fixture.account);
      fixture.reset();
      await act();
      clock.mockRestore();
      return fixture.calls();
    };
    const [one] = (await failedRuns()).dlqIds;
    expect(await callsOf(() => resume(one))).toBe(14);
    const { dlqIds } = await failedRuns();
    expect(await callsOf(() => resumeMany(byIds(dlqIds)))).toBe(24);
  });

  it('answers 503 if it does not die, and keeps the dead letter', async () => {
    const { dlqIds } = await failedRuns();
    fixture.refuse('SendMessageBatchCommand');
    await expect(resume(dlqIds[0])).rejects.toMatchObject({ status: 503 });
    fixture.reset();
    expect(await runs.isThere(dlqIds[0])).toBe(true);
  });
});

describe('many runs', () => {
  it('end in time with a cursor on a slow machine, though many requests resume them at once', async () => {
    const { inbox, state } = runs.endpoint();
    const count = 16;
    for (let number = 0; number < count; number += 1) await runs.fail(inbox.url);
    await fixture.doJobs();
    state.isWell = true;
    const seen = inbox.deliveries.length;
    // Each AWS call of these requests takes 150 ms of the one core that they share. Other calls, such as renewals, take none: a
    // busy machine makes more of them.
    const asked = new AsyncLocalStorage<boolean>();
    let passedMs = 0;
    const time = Date.now();
    vi.spyOn(Date, 'now').mockImplementation(() => time + passedMs);
    fixture.onCall(() => {
      if (asked.getStore() === true) passedMs += 150;
    });
    const made = new Set<string>();
    const cursors = new Set<string>();
    let longestMs = 0;
    while ((await runs.deadLettersOf(inbox.url)).length > 0) {
      const begunAt = Date.now();
      const pages = await Promise.all(
        Array.from({ length: 3 }, async () => {
          const page = await asked.run(true, () => resumeMany([['workflowUrl', inbox.url]]));
          longestMs = Math.max(longestMs, Date.now() - begunAt);
          return page;
        }),
      );
      for (const { workflowRuns, cursor } of pages) {
        for (const { workflowRunId } of workflowRuns) made.add(workflowRunId);
        cursors.add(cursor);
      }
    }
    fixture.reset();
    expect(longestMs).toBeLessThan(28_000);
    expect(cursors.size).toBeGreaterThan(1);
    expect(made.size).toBe(count);
    await fixture.doJobs();
    const resumed = inbox.deliveries.slice(seen).map(({ headers }) => headers['upstash-workflow-runid']);
    expect(resumed.toSorted()).toEqual([...made].toSorted());
  });

  it('beyond an account limit are refused, with the number that was resumed', async () => {
    const { inbox } = runs.endpoint();
    const failed = await runs.failed(inbox);
    const poor = { ...fixture.account, id: fixture.account.id, limits: { max_requests_per_day_hard: 0 } };
    const refused = services.resumeRuns(poor, byIds([failed.dlqId]), asItWas);
    await expect(refused).rejects.toMatchObject({ status: 429 });
    await expect(refused).rejects.toThrow('Started again before that: 0 runs.');
    expect(await runs.isThere(failed.dlqId)).toBe(true);
  });
});
