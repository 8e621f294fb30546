import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { acts, fixture, runFixture, useRuns } from '../../../support/useRuns.ts';
import type { RunStart } from '../../../../lambdas/workflow/rules/journal.ts';
import { mostFaults } from '../../../../lambdas/job/redelivery.ts';
import { fateAt, itAtEachDeath } from '../../../support/faults.ts';
import type { Inbox } from '../../../support/receiver.ts';
import { stepOf } from '../../../support/runActs.ts';
import { callbackTo, endpoint } from '../../../support/startSettings.ts';
import { type Fixture } from '../../../support/fixture.ts';

/** A permanently failed delivery fails its run once, and reports it, whichever worker dies. */

useRuns();

let runs = 0;
async function failing(more: Partial<RunStart> = {}, payload = '{"n":1}') {
  runs += 1;
  const inbox = fixture.receiver.inbox((_delivery, response) => response.writeHead(500).end('broken'));
  const told = fixture.receiver.inbox();
  const [parent, runId] = [`wfr_waits_${runs}`, `wfr_fails_${runs}`];
  const { createdAt } = await runFixture.start(parent);
  const step = stepOf(1, 'Invoke');
  await runFixture.append(parent, {
    kind: 'invoke',
    at: 1,
    step,
    messageId: 'msg',
    runId,
    createdAt: 1,
    url: inbox.url,
  });
  await fixture.drain();
  const { messageId } = await runFixture.start(runId, {
    payload,
    details: {
      url: inbox.url,
      settings: { maxRetries: 1, retryDelay: '0', labels: [], timeoutMs: 30_000 },
      failureCallback: callbackTo(told.url),
      invoker: { runId: parent, createdAt, url: endpoint, step, headers: [] },
      ...more,
    },
  });
  return { runId, parent, messageId, inbox, told };
}

const idsAt = ({ deliveries }: Inbox): ReadonlySet<string | undefined> =>
  new Set(deliveries.map(({ headers }) => headers['upstash-message-id']));

const resultsOf = async (runId: string): Promise<number> =>
  (await acts.records(runId)).filter(({ kind }) => kind === 'steps').length;

describe('a run whose delivery fails', () => {
  it('reports the headers that it forwards, which clients before 1.0 read there', async () => {
    const { told } = await failing({ forwarded: [['x-tenant', 'acme']] });
    await fixture.doJobs();
    expect(JSON.parse(String(told.deliveries[0]?.body))).toMatchObject({
      sourceHeader: { 'X-Tenant': 'acme' },
    });
  });

  itAtEachDeath('fails once, and all are told, wherever a worker dies', async (fate) => {
    await fixture.drain();
    const { runId, parent, messageId, inbox, told } = await failing();
    await fixture.doJobs(fate);
    expect(inbox.deliveries.length).toBeLessThanOrEqual(3);
    const kinds = await acts.kinds(runId);
    expect(kinds).toEqual(['start', 'end', 'failureFunction']);
    expect(await runFixture.snapshotOf(runId)).toMatchObject({
      state: 'RUN_FAILED',
      failureState: 'CALLBACK_SUCCESS',
    });
    expect(await acts.listed(runId)).toEqual(['RUN_FAILED']);
    expect(await fixture.deadLettersOf(messageId)).toBe(1);
    expect(idsAt(told).size).toBe(1);
    expect(JSON.parse(String(told.deliveries[0]?.body))).toMatchObject({
      status: 500,
      workflowRunId: runId,
      sourceBody: Buffer.from('{"n":1}').toString('base64'),
    });
    expect(await resultsOf(parent)).toBe(1);
  });

  it('has its failure reported even if its id belongs to another run when the job is retried', async () => {
    // The clock stops, so that the first delivery reads everything that a process reads once in seconds.
    vi.useFakeTimers({ toFake: ['Date'] });
    onTestFinished(() => {
      vi.useRealTimers();
    });
    await failing({ settings: onceOnly });
    await fixture.deliver((await fixture.receiveAttempt()).job, false);
    await fixture.drain();
    const { runId, parent, messageId, told } = await failing({ settings: onceOnly });
    // The worker dies right after it wrote the end. The job is retried when another run has started.
    const { job } = await fixture.receiveAttempt();
    const calls = await callsUntilEnd(job);
    const other = await failing({ settings: onceOnly });
    const again = await fixture.receiveAttempt();
    await fixture.underFate(fateAt({ call: calls, when: 'after' }), () => fixture.deliver(again.job, false));
    expect((await runFixture.snapshotOf(other.runId)).state).toBe('RUN_FAILED');
    await runFixture.start(other.runId);
    await fixture.deliver(again.job, true);
    expect(await fixture.deadLettersOf(other.messageId)).toBe(1);
    expect(await acts.listed(other.runId)).toEqual(['RUN_FAILED', 'RUN_STARTED']);
    expect(await resultsOf(other.parent)).toBe(1);
    expect(await fixture.deadLettersOf(messageId)).toBe(1);
    expect(await resultsOf(parent)).toBe(1);
    expect([runId, told.deliveries.length]).toEqual([runId, 0]);
  });

  it('does not change a run that ends at the same time', async () => {
    const { runId, messageId, inbox } = await failing({ settings: onceOnly });
    expect(inbox.deliveries).toHaveLength(0);
    await acts.end(runId, { body: '1' });
    await fixture.doJobs();
    expect(await runFixture.snapshotOf(runId)).toMatchObject({ state: 'RUN_SUCCESS' });
    expect(await fixture.deadLettersOf(messageId)).toBe(0);
    expect(inbox.deliveries).toHaveLength(0);
  });

  it('fails visibly if the service itself fails with it, and then waits for no failure function', async () => {
    const { giveUp } = await import('../../../../lambdas/worker/perform.ts');
    const { runId, told } = await failing({ settings: onceOnly }, JSON.stringify('x'.repeat(100_000)));
    // Neither the delivery nor the failure message can be made without the bodies.
    await acts.loseBodies(runId);
    for (const job of await fixture.drain()) await giveUp(job, 'faults');
    await fixture.doJobs();
    const [, end] = await acts.records(runId);
    expect(end).toMatchObject({ kind: 'end', state: 'RUN_FAILED' });
    expect((await runFixture.snapshotOf(runId)).failureState).toBeUndefined();
    expect(end?.kind === 'end' && end.failure?.response.error).toContain(`failed ${mostFaults} times`);
    expect(told.deliveries).toHaveLength(0);
  });
});

const onceOnly = { maxRetries: 0, labels: [], timeoutMs: 30_000 };

/** Counts the AWS calls up to the run’s end, which is the second conditional put of a failed delivery. */
async function callsUntilEnd(job: Parameters<Fixture['deliver']>[0]): Promise<number> {
  fixture.reset();
  let calls = 0;
  let puts = 0;
  const counting = {
    step: 'initialize',
    name: 'counting',
    override: true,
  } as const;
  fixture.dynamodb.middlewareStack.add(
    (next, context) => async (args) => {
      if (context.commandName === 'PutItemCommand' && isOfJournal(args.input)) {
        puts += 1;
        if (puts === 1) calls = fixture.calls();
      }
      return next(args);
    },
    counting,
  );
  try {
    await fixture.deliver(job, false);
  } finally {
    fixture.dynamodb.middlewareStack.remove('counting');
  }
  return calls;
}

const isOfJournal = (input: object): boolean =>
  'TableName' in input && input.TableName === fixture.settings.workflowsTable;
