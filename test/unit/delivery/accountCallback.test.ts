import type { ServerResponse } from 'node:http';
import { beforeEach, describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { accountLifetimeMs } from '../../../lambdas/account/account.ts';
import { callbackOf } from '../../support/callbacks.ts';
import { setClockAhead } from '../../support/clockAhead.ts';
import { failedRunsIn, type FailedRuns } from '../../support/failedRuns.ts';
import { itAtEachDeath } from '../../support/faults.ts';
import { idsOf, type Fixture } from '../../support/fixture.ts';
import type { Delivery, Inbox } from '../../support/receiver.ts';
import { useFixture } from '../../support/useFixture.ts';

let fixture: Fixture;
let runs: FailedRuns;
let told: Inbox;
let answer: (response: ServerResponse) => void;
let setCallback: (url: string) => Promise<void>;

useFixture(async (opened) => {
  fixture = opened;
  const { loadAccount, saveAccount } = await import('../../../lambdas/account/accounts.ts');
  runs = await failedRunsIn(fixture);
  told = fixture.receiver.inbox((_delivery, response) => {
    answer(response);
  });
  setCallback = async (failureCallback) => {
    const before = await loadAccount(fixture.account.id, true);
    if (before === undefined) throw new Error('There is no account.');
    await saveAccount({ ...before, failureCallback, version: before.version + 1 }, before);
  };
  await setCallback(told.url);
});
beforeEach(async () => {
  answer = (response) => response.end();
  await fixture.drain();
});

const failing = (): Inbox =>
  fixture.receiver.inbox((_delivery, response) => response.writeHead(500).end('no'));

const toldOf = (messageId: string): readonly Delivery[] =>
  told.deliveries.filter((delivery) => callbackOf(delivery).sourceMessageId === messageId);

const runShape = z.object({ workflowRunId: z.optional(z.string()) });
const toldOfRun = (runId: string): readonly Delivery[] =>
  told.deliveries.filter(
    ({ body }) => runShape.parse(JSON.parse(body.toString('utf8'))).workflowRunId === runId,
  );

describe('the failure callback of an account', () => {
  itAtEachDeath('is told of a message once, whenever a worker dies', async (fate) => {
    const messageId = await fixture.send(failing().url, { retries: '0' });
    await fixture.doJobs(fate);
    const deliveries = toldOf(messageId);
    expect(idsOf(deliveries).size).toBe(1);
    expect(deliveries[0] && callbackOf(deliveries[0])).toMatchObject({ status: 500, retried: 0 });
    expect(deliveries[0] && callbackOf(deliveries[0]).dlqId).toMatch(/^dlq_/);
    expect(await fixture.deadLettersOf(messageId)).toBe(1);
  });

  itAtEachDeath('is told of a run once, whenever a worker dies', async (fate) => {
    const { runId } = await runs.fail(failing().url);
    await fixture.doJobs(fate);
    expect(idsOf(toldOfRun(runId).map((one) => ({ ...one, headers: svcHeaders(one) }))).size).toBe(1);
  });

  it('is the one at the time of the failure, even if the account’s callback is changed afterwards', async () => {
    const later = fixture.receiver.inbox();
    const messageId = await fixture.send(failing().url, { retries: '0' });
    const { job } = await fixture.receiveAttempt();
    await fixture.deliver(job, false);
    // The worker dies before it sends the callback, and the account is changed before the retry.
    await fixture.drain();
    await setCallback(later.url);
    try {
      setClockAhead(2 * accountLifetimeMs);
      await fixture.deliver(job, true);
      await fixture.doJobs();
      expect([toldOf(messageId).length, later.deliveries.length]).toEqual([1, 0]);
    } finally {
      await setCallback(told.url);
      setClockAhead(4 * accountLifetimeMs);
      await fixture.send(fixture.receiver.inbox().url);
      await fixture.doJobs();
    }
  });

  it('is not called for messages with their own one, nor for callbacks, including its own calls', async () => {
    const own = fixture.receiver.inbox();
    const before = told.deliveries.length;
    await fixture.send(failing().url, { retries: '0', 'failure-callback': own.url });
    const callbacks = { callback: failing().url, 'callback-retries': '0' };
    await fixture.send(fixture.receiver.inbox().url, callbacks);
    await fixture.doJobs();
    expect([own.deliveries.length, told.deliveries.length]).toEqual([1, before]);

    // Its own call fails permanently with the first answer.
    answer = (response) => response.writeHead(489, { 'Svc-NonRetryable-Error': 'true' }).end();
    const messageId = await fixture.send(failing().url, { retries: '0' });
    await fixture.doJobs();
    expect(toldOf(messageId)).toHaveLength(1);
    expect(told.deliveries).toHaveLength(before + 1);
    const callId = told.deliveries.at(-1)?.headers['svc-message-id'] ?? '';
    expect(await fixture.deadLettersOf(callId)).toBe(1);
  });

  it('does not hold back a queue: the next message does not wait for it', async () => {
    answer = (response) => response.writeHead(500).end();
    const next = fixture.receiver.inbox();
    await fixture.enqueue('told', failing().url, { retries: '0', timeout: '20s' });
    await fixture.enqueue('told', next.url, { retries: '0', timeout: '20s' });
    await fixture.doJobs();
    expect(next.deliveries).toHaveLength(1);
  });

  it('is called for a run whose endpoint has no failure function, and not if it has one', async () => {
    const withFunction = fixture.receiver.inbox();
    const told1 = await runs.fail(failing().url, { failureUrl: withFunction.url });
    const without = fixture.receiver.inbox((_delivery, response) =>
      response.writeHead(200, { 'Upstash-Workflow-Failure-Callback-Notfound': 'true' }).end(),
    );
    const told2 = await runs.fail(failing().url, { failureUrl: without.url });
    await fixture.doJobs();
    expect([withFunction.deliveries.length, without.deliveries.length]).toEqual([1, 1]);
    expect([toldOfRun(told1.runId).length, toldOfRun(told2.runId).length]).toEqual([0, 1]);
    expect(toldOfRun(told2.runId)[0]?.body.equals(without.deliveries[0]?.body ?? Buffer.alloc(0))).toBe(true);
  });
});

/** Copies the id of a run’s message from its dialect’s prefix. */
const svcHeaders = ({ headers }: Delivery): Delivery['headers'] => ({
  ...headers,
  'svc-message-id': headers['upstash-message-id'] ?? '',
});
