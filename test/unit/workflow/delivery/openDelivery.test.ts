import type { ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import { acts, fixture, runFixture, useRuns } from '../../../support/useRuns.ts';
import * as z from 'zod/mini';
import type { FlowControl } from '../../../../lambdas/value/flowControl.ts';
import { attemptJob } from '../../../../lambdas/job/job.ts';
import { setClockAhead } from '../../../support/clockAhead.ts';
import { itAtEachDeath } from '../../../support/faults.ts';
import type { Delivery, Inbox } from '../../../support/receiver.ts';
import { resultOf, type WrittenStep } from '../../../support/runFixture.ts';
import { newMessageId } from '../../../support/runLogs.ts';

/** Each delivery shows a run’s list up to its own entry, and the run ends whichever process dies. */

useRuns();

const list = z.array(z.object({ messageId: z.string(), body: z.string(), callType: z.literal('step') }));
const written = z.object({ stepId: z.number(), targetStep: z.optional(z.number()) });

/** Returns the shown list: the payload, and each step as `P2` for its plan or `2` for its result. */
const shownIn = ({ body }: Delivery): readonly string[] =>
  list.parse(JSON.parse(body.toString('utf8'))).map((entry, index) => {
    const text = Buffer.from(entry.body, 'base64').toString('utf8');
    if (index === 0) return text;
    const { stepId, targetStep } = written.parse(JSON.parse(text));
    return targetStep === undefined ? String(stepId) : `P${targetStep}`;
  });

const planOf = (stepId: number): WrittenStep => ({
  ...{ stepId: 0, targetStep: stepId, stepName: `step ${stepId}`, stepType: 'Run', concurrent: 2 },
});

/** Plays an endpoint with two parallel steps. */
async function react(runId: string, url: string, shown: readonly string[]): Promise<void> {
  const submit = (...steps: readonly WrittenStep[]) => runFixture.submit(runId, steps, {}, url);
  const branch = (stepId: number): WrittenStep => resultOf(stepId, '"done"', { concurrent: 2 });
  const last = shown.at(-1);
  if (shown.length === 1) await submit(planOf(1), planOf(2));
  else if (last === 'P1') await submit(branch(1));
  else if (last === 'P2') await submit(branch(2));
  else if (shown.length === 5) await acts.end(runId, { body: '"over"' });
}

/** Submits like the client. A failed submission is a failed attempt. */
function endpointOf(runId: string): Inbox {
  const inbox: Inbox = fixture.receiver.inbox((delivery, response) => {
    const answer = (status: number) =>
      response.writeHead(status, { 'upstash-workflow-sdk-version': '1' }).end();
    react(runId, inbox.url, shownIn(delivery)).then(
      () => answer(200),
      () => answer(500),
    );
  });
  return inbox;
}

const settings = { maxRetries: 5, retryDelay: '0', labels: [], timeoutMs: 30_000 };

describe('a run in one process with its endpoint’s submissions', () => {
  itAtEachDeath(
    'comes to its end with each step once, though the process dies at any of its AWS calls',
    async (fate) => {
      const runId = `wfr_whole_${fate.name}`;
      const inbox = endpointOf(runId);
      await runFixture.start(runId, { details: { url: inbox.url, settings } });
      await fixture.doJobs(fate);
      const snapshot = await runFixture.snapshotOf(runId);
      expect(snapshot.state).toBe('RUN_SUCCESS');
      expect(await acts.listed(runId)).toEqual(['RUN_SUCCESS']);
      const steps = (await acts.records(runId)).flatMap((record) =>
        record.kind === 'steps' ? record.entries.map(({ step }) => `${step?.kind} ${step?.stepId}`) : [],
      );
      expect(steps.slice(0, 2)).toEqual(['plan 1', 'plan 2']);
      expect(steps.slice(2).toSorted()).toEqual(['result 1', 'result 2']);
      // Each delivery shows the beginning of the same list.
      const longest =
        inbox.deliveries.map(shownIn).toSorted((one, other) => other.length - one.length)[0] ?? [];
      for (const delivery of inbox.deliveries) {
        const shown = shownIn(delivery);
        expect(shown).toEqual(longest.slice(0, shown.length));
      }
    },
    { every: { ordinary: 15, thorough: 1 } },
  );
});

describe('a delivery', () => {
  it('shows the list up to its own entry, even if more was recorded later', async () => {
    const inbox = fixture.receiver.inbox();
    await runFixture.start('wfr_list', { details: { url: inbox.url, features: [] } });
    for (const stepId of [1, 2, 3]) await runFixture.submit('wfr_list', [resultOf(stepId)]);
    await fixture.doJobs();
    const lists = inbox.deliveries.map((delivery) => shownIn(delivery).length);
    // Three went to the request’s address, which does not exist.
    expect(lists).toEqual([1]);
    const { headers } = inbox.deliveries[0] ?? { headers: {} };
    expect(headers).toMatchObject({
      'upstash-workflow-sdk-version': '1',
      'upstash-workflow-runid': 'wfr_list',
      'x-tenant': 'acme',
      'content-type': 'application/json',
    });
  });

  it('of a run whose id now belongs to another run is dropped, and does not touch the new run', async () => {
    const before = fixture.receiver.inbox();
    const after = fixture.receiver.inbox((_delivery, response) =>
      response.writeHead(200, { 'upstash-workflow-sdk-version': '1' }).end(),
    );
    await runFixture.start('wfr_reused', { details: { url: before.url } });
    await acts.end('wfr_reused', { cancel: true });
    await runFixture.start('wfr_reused', { details: { url: after.url } });
    await fixture.doJobs();
    expect([before.deliveries.length, after.deliveries.length]).toEqual([0, 1]);
    expect((await runFixture.snapshotOf('wfr_reused')).state).toBe('RUN_STARTED');
  });

  it('that is first and finds no workflow at its destination fails the run at once', async () => {
    const inbox = fixture.receiver.inbox();
    await runFixture.start('wfr_wrong', { details: { url: inbox.url } });
    await fixture.doJobs();
    expect(inbox.deliveries).toHaveLength(1);
    const [, end] = await acts.records('wfr_wrong');
    expect(end?.kind === 'end' && end.failure?.response.error).toContain(
      'detected a non-workflow destination',
    );
  });
});

describe('a message of a run that ended', () => {
  const roles = ['list', 'callResult', 'call'] as const;

  async function startLimited(role: (typeof roles)[number], flowControl: FlowControl, url: string) {
    const runId = `wfr_${flowControl.key}`;
    const limited = { ...settings, flowControl };
    const started = await runFixture.start(runId, { details: { url, settings: limited } });
    const { messageId } =
      role === 'list'
        ? started
        : await runFixture.message(runId, newMessageId(), role, '{}', { url, flowControl });
    await fixture.drain();
    const history = await fixture.loadMessage({ accountId: fixture.account.id, messageId });
    if (history === undefined) throw new Error('The message is not there.');
    return { runId, history, job: attemptJob(history.message, 0) };
  }

  it.each(roles)('is dropped if the run ended while an attempt waited for its lanes: %s', async (role) => {
    const inbox = fixture.receiver.inbox();
    const waiting: ServerResponse[] = [];
    const held = fixture.receiver.inbox((_delivery, response) => void waiting.push(response));
    const key = `waits_${role}`;
    const { runId, history, job } = await startLimited(role, { key, parallelism: 1 }, inbox.url);
    const underKey = { 'flow-control-key': key, 'flow-control-value': 'parallelism=1' };
    await fixture.send(held.url, underKey);
    const first = fixture.deliver((await fixture.receiveAttempt()).job, false);
    await held.received(1);
    await fixture.deliver(job, false);
    await acts.end(runId, { cancel: true });
    for (const response of waiting) response.end();
    await first;
    await fixture.doJobs();
    expect(inbox.deliveries).toEqual([]);
    expect((await fixture.loadMessage(history.message))?.end).toBe('CANCELED');
    await fixture.send(inbox.url, underKey);
    await fixture.doJobs();
    expect(inbox.deliveries).toHaveLength(1);
  });

  it('leaves its slot and its start to the next message with its key', async () => {
    const inbox = fixture.receiver.inbox();
    const limits = { key: 'drops', parallelism: 1, rate: 1, period: 3_600 };
    const { runId, job } = await startLimited('list', limits, inbox.url);
    await acts.end(runId, { cancel: true });
    await fixture.deliver(job, false);
    expect(inbox.deliveries).toEqual([]);
    const value = 'parallelism=1,rate=1,period=1h';
    await fixture.send(inbox.url, { 'flow-control-key': 'drops', 'flow-control-value': value });
    await fixture.doJobs();
    expect(inbox.deliveries).toHaveLength(1);
  });

  itAtEachDeath('is dropped, and holds up no other, though the process dies that drops it', async (fate) => {
    const inbox = fixture.receiver.inbox();
    const key = `drops_${fate.name}`;
    const { runId, history, job } = await startLimited('list', { key, parallelism: 1 }, inbox.url);
    await acts.end(runId, { cancel: true });
    await fixture.drain();
    const { sendJob } = await import('../../../../lambdas/job/send.ts');
    await sendJob(job, Date.now());
    await fixture.doJobs(fate);
    expect(inbox.deliveries).toEqual([]);
    expect((await fixture.loadMessage(history.message))?.end).toBe('CANCELED');
    // The lease of a dead process expires.
    setClockAhead(120_000);
    await fixture.send(inbox.url, { 'flow-control-key': key, 'flow-control-value': 'parallelism=1' });
    await fixture.doJobs();
    expect(inbox.deliveries).toHaveLength(1);
  });
});
