import { describe, expect, it, vi } from 'vitest';
import { imported } from '../../../support/imported.ts';
import { acts, fixture, runFixture, useRuns } from '../../../support/useRuns.ts';
import { mostFaults } from '../../../../lambdas/job/redelivery.ts';
import type { Job } from '../../../../lambdas/job/job.ts';
import { parseStep } from '../../../../lambdas/workflow/rules/step.ts';
import { fateAt } from '../../../support/faults.ts';
import { setClockAhead } from '../../../support/clockAhead.ts';
import { attemptsIn, waitRecord } from '../../../support/runActs.ts';
import { callbackTo } from '../../../support/startSettings.ts';

/** Jobs on which the service keeps failing are given up: a waiting run gets a result, or fails visibly. */

useRuns();
const lambdas = imported(async () => ({
  ...(await import('../../../../lambdas/worker/perform.ts')),
  ...(await import('../../../../lambdas/message/bodies.ts')),
  ...(await import('../../../../lambdas/recovery/recover.ts')),
}));

let runs = 0;
async function pair() {
  runs += 1;
  const [parent, child] = [`wfr_up_${runs}`, `wfr_down_${runs}`];
  const told = fixture.receiver.inbox();
  const failureCallback = callbackTo(told.url);
  const { createdAt } = await runFixture.start(parent, { details: { failureCallback } });
  await acts.invoke({ runId: parent, createdAt }, 1, child);
  await fixture.drain();
  return { parent, child, told };
}

/** Writes an unreadable response, so that each report of the end fails. */
const endUnreadably = (child: string): Promise<void> =>
  runFixture.append(child, {
    kind: 'end',
    at: Date.now(),
    state: 'RUN_SUCCESS',
    responseId: 'msg_lost',
    response: { at: 'row', deflated: false },
  });

async function endJobOf(child: string): Promise<Job> {
  const { createdAt, startSeq } = await runFixture.snapshotOf(child);
  return { kind: 'runEnd', accountId: fixture.account.id, runId: child, createdAt, startSeq };
}

async function toldTo(runId: string): Promise<readonly unknown[]> {
  const told: unknown[] = [];
  for (const record of await acts.records(runId)) {
    if (record.kind !== 'steps') continue;
    for (const { messageId, body } of record.entries) {
      const step = parseStep(await lambdas.loadBody(messageId, body));
      told.push(step.kind === 'result' ? JSON.parse(step.out ?? 'null') : step.kind);
    }
  }
  return told;
}

/** Runs an act while calls of DynamoDB fail, at least one. */
async function failingAt(isIt: (input: string) => boolean, act: () => Promise<unknown>): Promise<void> {
  const { dynamodb } = fixture;
  const send = dynamodb.send.bind(dynamodb);
  let failed = 0;
  const spy = vi.spyOn(dynamodb, 'send').mockImplementation(((command: { readonly input?: unknown }) => {
    if (!isIt(JSON.stringify(command.input ?? {}))) return send(command as never);
    failed += 1;
    return Promise.reject(new Error('It is refused.'));
  }) as never);
  try {
    await act();
  } finally {
    spy.mockRestore();
  }
  expect(failed).toBeGreaterThan(0);
}

describe('the end of an invoked run that cannot be reported', () => {
  it('is answered with success, and left to a separate job', async () => {
    const { child } = await pair();
    await endUnreadably(child);
    await acts.end(child);
    setClockAhead(60_000);
    const jobs = (await fixture.drain()).filter(({ kind }) => kind !== 'runStart');
    expect(jobs).toMatchObject([{ kind: 'runEnd', runId: child }]);
  });

  it('fails the invoker’s step once when it is given up, with the reason', async () => {
    const { parent, child } = await pair();
    await endUnreadably(child);
    const job = await endJobOf(child);
    await expect(fixture.perform(job, { isAgain: false })).rejects.toThrow('msg_lost');
    await lambdas.giveUp(job, 'faults');
    await lambdas.giveUp(job, 'faults');
    const [told, ...more] = await toldTo(parent);
    expect(more).toEqual([]);
    expect(told).toMatchObject({ isFailed: true, isCanceled: false });
    expect(JSON.stringify(told)).toContain(`failed ${mostFaults} times with the end of the invoked run`);
    expect(attemptsIn(await fixture.drain())).toHaveLength(1);
  });

  it('fails its invoker, with a dead letter and a failure function, if a failure cannot be reported either', async () => {
    const { parent, child, told } = await pair();
    await endUnreadably(child);
    const job = await endJobOf(child);
    const isResult = (input: string): boolean =>
      input.includes('"kind":{"S":"steps"}') && input.includes(parent);
    await failingAt(isResult, () => lambdas.giveUp(job, 'faults'));
    await lambdas.giveUp(job, 'faults');
    const end = (await acts.records(parent)).find(({ kind }) => kind === 'end');
    expect(end).toMatchObject({ state: 'RUN_FAILED', failure: { response: { status: 0 } } });
    const failure = end?.kind === 'end' ? end.failure : undefined;
    expect(failure?.response.error).toContain(`failed ${mostFaults} times with the end of the invoked run`);
    expect(await fixture.deadLettersOf(failure?.messageId ?? '')).toBe(1);
    await fixture.doJobs();
    expect(new Set(told.deliveries.map(({ headers }) => headers['upstash-message-id'])).size).toBe(1);
    expect(await acts.listed(parent)).toEqual(['RUN_FAILED']);
  });
});

describe('a start that cannot be finished', () => {
  const checksIn = (jobs: readonly Job[]): readonly Job[] => jobs.filter(({ kind }) => kind === 'runStart');

  it('fails its run visibly if nothing was delivered, at each AWS call of its process', async () => {
    let failed = 0;
    for (const call of [1, 2, 3, 4, 5, 6]) {
      runs += 1;
      const runId = `wfr_start_${runs}`;
      const told = fixture.receiver.inbox();
      const details = { failureCallback: callbackTo(told.url) };
      await fixture.underFate(fateAt({ call, when: 'before' }), () => runFixture.start(runId, { details }));
      const isRecorded = (await acts.records(runId)).length > 0;
      setClockAhead(call * 3_600_000);
      const jobs = await fixture.drain();
      for (const job of checksIn(jobs)) await lambdas.giveUp(job, 'faults');
      if (!isRecorded) continue;
      const { state } = await runFixture.snapshotOf(runId);
      if (attemptsIn(jobs).length > 0) continue;
      expect(state).toBe('RUN_FAILED');
      await fixture.doJobs();
      expect(told.deliveries.length).toBeGreaterThan(0);
      failed += 1;
    }
    expect(failed).toBeGreaterThan(0);
  });

  it('does not change a run that was delivered', async () => {
    runs += 1;
    const runId = `wfr_start_${runs}`;
    await runFixture.start(runId);
    setClockAhead(3_600_000);
    const checks = checksIn(await fixture.drain());
    expect(checks).toHaveLength(1);
    for (const job of checks) await lambdas.giveUp(job, 'faults');
    expect(await runFixture.snapshotOf(runId)).toMatchObject({ state: 'RUN_STARTED' });
  });
});

describe('a wait that cannot be ended', () => {
  const waiting = async (deadline: number) => {
    runs += 1;
    const runId = `wfr_wait_${runs}`;
    const told = fixture.receiver.inbox();
    await runFixture.start(runId, { details: { failureCallback: callbackTo(told.url) } });
    await runFixture.append(runId, waitRecord(1, { deadline }));
    await fixture.drain();
    const { seq } = await runFixture.snapshotOf(runId);
    const job: Job = { kind: 'waitTimeout', accountId: fixture.account.id, runId, seq, dueAt: Date.now() };
    return { runId, job, told };
  };

  it('fails its run when it is due and given up', async () => {
    const { runId, job, told } = await waiting(Date.now() - 1);
    await lambdas.giveUp(job, 'faults');
    expect(await runFixture.snapshotOf(runId)).toMatchObject({ state: 'RUN_FAILED' });
    await fixture.doJobs();
    expect(told.deliveries.length).toBeGreaterThan(0);
  });

  it('continues if its deadline is still in the future', async () => {
    const { runId, job } = await waiting(Date.now() + 3_600_000);
    await lambdas.giveUp(job, 'deaths');
    expect((await runFixture.snapshotOf(runId)).state).toBe('RUN_STARTED');
  });
});

describe('a call whose result cannot be stored', () => {
  it('fails its run when it is given up', async () => {
    runs += 1;
    const runId = `wfr_call_${runs}`;
    await runFixture.start(runId);
    await fixture.drain();
    const { messageId } = await acts.call(runId, 1, 'http://127.0.0.1:9/third');
    await fixture.drain();
    const job: Job = {
      kind: 'attempt',
      accountId: fixture.account.id,
      messageId,
      attempt: 0,
      queue: 'short',
    };
    await failingAt(
      (input) => input.includes('"callResult"'),
      () => lambdas.giveUp(job, 'faults'),
    );
    expect(await runFixture.snapshotOf(runId)).toMatchObject({ state: 'RUN_FAILED' });
  });
});

describe('the recovery of runs', () => {
  it('continues with the other runs if it fails with one, and reports an end to the invoker', async () => {
    const [bad, good] = [await pair(), await pair()];
    await runFixture.append(good.child, { kind: 'end', at: Date.now(), state: 'RUN_CANCELED' });
    let skipped = 0;
    await failingAt(
      (input) => input.includes(bad.parent),
      async () => {
        ({ skippedRuns: skipped } = await lambdas.recover({
          since: Date.now() - 3_600_000,
          isDryRun: false,
        }));
      },
    );
    expect(skipped).toBe(1);
    expect(await toldTo(good.parent)).toEqual([{ isFailed: false, isCanceled: true }]);
  });
});
