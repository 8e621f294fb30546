import { afterEach, describe, expect, it, vi } from 'vitest';
import { imported } from '../../support/imported.ts';
import { fixture, waitFixture, useWaits } from '../../support/useRuns.ts';
import type { HookRequest } from '../../../lambdas/workflow/requestedWait.ts';
import { newWebhookId } from '../../support/waitFixture.ts';
import type { Fixture } from '../../support/fixture.ts';

useWaits();
const lambdas = imported(async () => ({
  ...(await import('../../../lambdas/usage/rateLimit.ts')),
  ...(await import('../../../lambdas/usage/usageRows.ts')),
  ...(await import('../../../lambdas/account/givenCredentials.ts')),
}));
afterEach(() => {
  vi.useRealTimers();
});

const requestOf = (more: Partial<HookRequest> = {}): HookRequest => ({
  method: 'PUT',
  headers: [
    ['content-type', 'text/plain'],
    ['x-two', 'a'],
    ['x-two', 'b'],
    ['connection', 'close'],
  ],
  body: Buffer.from('grüß'),
  proto: 'https',
  host: 'api.example.com',
  url: '/base/v2/workflows/hooks/acct/wfr_1/evt_1?a=1',
  ...more,
});

const refused = (status: number): unknown => expect.objectContaining({ status });
const none: unknown = expect.objectContaining({
  status: 404,
  code: 'webhook_not_found',
  message: 'There is no such webhook.',
});
const full: unknown = expect.objectContaining({ status: 429, code: 'webhook_full' });

const call = (
  runId: string,
  eventId: string,
  more: Partial<HookRequest> = {},
  accountId = fixture.account.id,
) => waitFixture.callHook({ accountId, runId, eventId, request: requestOf(more) });

async function costOf(work: () => Promise<unknown>) {
  fixture.reset();
  const failure = await work().then(
    () => undefined,
    (error: unknown) => error,
  );
  return { failure, calls: fixture.operations() };
}

async function newAccount(id: string, limits: Fixture['account']['limits']) {
  const account = { ...fixture.account, id, limits };
  await fixture.saveAccount(account, undefined);
  return account;
}

describe('a call of a webhook', () => {
  it('is recorded unchanged as an event of its run, before the wait or after it', async () => {
    const runId = await waitFixture.start();
    const eventId = await waitFixture.createWebhook(runId);
    await call(runId, eventId);
    await waitFixture.wait(runId, eventId, { stepType: 'WaitForWebhook', stepId: 2 });
    await waitFixture.wait(runId, eventId, { stepType: 'WaitForWebhook', stepId: 3 });
    await call(runId, eventId, { method: 'GET', body: new Uint8Array() });
    const results = await waitFixture.resultsOf(runId);
    const events = results.map(({ event = '' }): unknown => JSON.parse(event));
    expect(events).toEqual([
      {
        method: 'PUT',
        header: { 'Content-Type': ['text/plain'], 'X-Two': ['a', 'b'] },
        body: Buffer.from('grüß').toString('base64'),
        proto: 'https',
        host: 'api.example.com',
        url: '/base/v2/workflows/hooks/acct/wfr_1/evt_1?a=1',
      },
      expect.not.objectContaining({ body: expect.anything() as unknown }),
    ]);
  });

  it('answers 404 if the run has ended or is unknown, or the account is not served here, and says nothing more', async () => {
    const runId = await waitFixture.start();
    const eventId = await waitFixture.createWebhook(runId);
    await expect(call('wfr_unknown', eventId)).rejects.toThrow(none);
    for (const other of ['', 'nobody', 'apiHost#eu-central-1#messaging', 'x'.repeat(5_000)]) {
      await expect(call(runId, eventId, {}, other)).rejects.toThrow(none);
    }
    for (const other of ['', 'count', 'wfr_\u{1f600}', 'x'.repeat(5_000)]) {
      await expect(call(other, eventId)).rejects.toThrow(none);
    }
    // The answer does not depend on the size, so that strangers do not learn a run’s limits.
    await expect(call(runId, newWebhookId(), { body: Buffer.alloc(5_000_000) })).rejects.toThrow(none);
    await fixture.saveAccount({ ...fixture.account, id: 'suspended', state: 'passive' }, undefined);
    const account = { ...fixture.account, id: 'suspended' };
    const suspended = await waitFixture.start({ account });
    await waitFixture.wait(suspended, eventId, { stepType: 'WaitForWebhook', account });
    await expect(call(suspended, eventId, {}, 'suspended')).rejects.toThrow(none);
    await waitFixture.endRun(fixture.account, { runId }, { state: 'RUN_CANCELED' });
    await expect(call(runId, eventId)).rejects.toThrow(none);
  });

  it('costs one read if it finds no run, and no call if its form is wrong', async () => {
    const runId = await waitFixture.start();
    const read = { failure: none, calls: { QueryCommand: 1 } };
    expect(await costOf(() => call(runId, newWebhookId(), {}, 'nobody'))).toEqual(read);
    expect(await costOf(() => call('wfr_unknown', newWebhookId()))).toEqual(read);
    expect(await costOf(() => call(runId, newWebhookId()))).toEqual(read);
    const misshapen = [
      '',
      'paid',
      'evt_',
      'evt_12345678901234',
      'evt_1234567890123456',
      'evt_12345678901234.',
    ];
    for (const eventId of misshapen) {
      expect(await costOf(() => call(runId, eventId))).toEqual({ failure: none, calls: {} });
    }
    expect(await waitFixture.recordsOf(runId)).toHaveLength(1);
  });

  it('ends only a wait for its webhook', async () => {
    const runId = await waitFixture.start();
    const eventId = newWebhookId();
    await waitFixture.wait(runId, eventId);
    expect(await costOf(() => call(runId, eventId))).toEqual({
      failure: none,
      calls: { QueryCommand: 1, GetItemCommand: 1 },
    });
    // A notification of the account ends the other wait.
    await waitFixture.notifyRun(fixture.account, { runId, eventId }, Buffer.from('by its account'));
    expect(await waitFixture.resultsOf(runId)).toMatchObject([{ event: 'by its account' }]);
  });

  it('is kept for the next wait for its webhook, and for no other', async () => {
    const runId = await waitFixture.start();
    const eventId = await waitFixture.createWebhook(runId);
    await call(runId, eventId);
    await waitFixture.plan(runId, 2, 2);
    await waitFixture.wait(runId, eventId, { stepId: 2, concurrent: 2 });
    expect(await waitFixture.resultsOf(runId)).toEqual([]);
    await waitFixture.wait(runId, eventId, { stepId: 3, concurrent: 2, stepType: 'WaitForWebhook' });
    expect(await waitFixture.resultsOf(runId)).toMatchObject([{ stepId: 3, isTimeout: false }]);
  });

  it('is kept, up to ten for each webhook', async () => {
    const runId = await waitFixture.start();
    const [first, second] = [
      await waitFixture.createWebhook(runId, 1),
      await waitFixture.createWebhook(runId, 2),
    ];
    for (let sent = 0; sent < 10; sent += 1) await call(runId, first);
    expect(await costOf(() => call(runId, first))).toEqual({ failure: full, calls: { QueryCommand: 1 } });
    await call(runId, second);
    // After a wait there is room for another call.
    await waitFixture.wait(runId, first, { stepType: 'WaitForWebhook', stepId: 3 });
    await call(runId, first);
    await expect(call(runId, first)).rejects.toThrow(full);
  });

  it('is kept while all of them fit into their part of the list', async () => {
    const runId = await waitFixture.start();
    const eventId = await waitFixture.createWebhook(runId);
    // In the list it takes 16/9 of its bytes, so two exceed 8 MiB.
    const large = { body: Buffer.alloc(2_500_000) };
    await call(runId, eventId, large);
    await expect(call(runId, eventId, large)).rejects.toThrow(full);
    await call(runId, eventId);
    const [, , record] = await waitFixture.recordsOf(runId);
    expect(record?.record).toMatchObject({ kind: 'event', callBytes: expect.any(Number) as number });
    const called = record?.record.kind === 'event' ? (record.record.callBytes ?? 0) : 0;
    await waitFixture.wait(runId, eventId, { stepType: 'WaitForWebhook', stepId: 2 });
    const [result] = await waitFixture.resultsOf(runId);
    expect(result?.entry.bodyBytes).toBeGreaterThan(called);
    expect(result?.entry.bodyBytes).toBeLessThan(called + 200);
  });

  it('that does not fit into a wait’s result is refused before anything is sent or stored', async () => {
    const runId = await waitFixture.start();
    await waitFixture.fill(runId, 1_000);
    const eventId = newWebhookId();
    await waitFixture.wait(runId, eventId, { stepType: 'WaitForWebhook', stepId: 2 });
    expect(await costOf(() => call(runId, eventId, { body: Buffer.alloc(1_000) }))).toEqual({
      failure: expect.objectContaining({ status: 412, code: 'submission_refused' }) as Error,
      calls: { QueryCommand: 1, GetItemCommand: 2 },
    });
  });

  it('names the account like its token', async () => {
    const runId = await waitFixture.start();
    const eventId = await waitFixture.createWebhook(runId);
    await expect(call(runId, eventId, {}, 'defaultUser')).rejects.toThrow(none);
    lambdas.giveCredentials({
      accountId: fixture.account.id,
      token: { UserID: 'defaultUser', Password: 'defaultPassword' },
      signingKeys: { current: 'current', next: 'next' },
    });
    await call(runId, eventId, {}, 'defaultUser');
  });
});

describe('the limits of webhooks', () => {
  it('are the account’s request limits, counted separately for each kind', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    const account = await newAccount('apart', {
      max_requests_per_second: 5,
      max_bandwidth_per_second: 1_000,
    });
    const runId = await waitFixture.start({ account });
    const eventId = newWebhookId();
    const callOnce = async (body: Buffer, stepId: number) => {
      await waitFixture.wait(runId, eventId, { stepType: 'WaitForWebhook', stepId, account });
      await call(runId, eventId, { body }, 'apart');
    };
    for (let stepId = 1; stepId <= 5; stepId += 1) await callOnce(Buffer.alloc(0), stepId);
    await expect(callOnce(Buffer.alloc(0), 6)).rejects.toThrow(
      expect.objectContaining({ status: 429, code: 'rate_limit_reached' }),
    );
    // Requests with a token are still allowed.
    for (let sent = 0; sent < 5; sent += 1) await lambdas.limitCall(account, 100);
    await expect(lambdas.limitCall(account, 0)).rejects.toThrow(refused(429));
    vi.setSystemTime(Date.now() + 1_000);
    // The same with both kinds of requests swapped, and for bytes.
    await lambdas.limitCall(account, 5_000);
    await expect(lambdas.limitCall(account, 1)).rejects.toThrow(refused(429));
    await call(runId, eventId, { body: Buffer.alloc(5_000) }, 'apart');
    await expect(callOnce(Buffer.alloc(1), 7)).rejects.toThrow(
      expect.objectContaining({ status: 429, code: 'bandwidth_limit_reached' }),
    );
  });

  it('are not used up by refused calls', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    const account = await newAccount('uncharged', {
      max_requests_per_second: 2,
      max_message_size: 1_000,
      max_requests_per_day_hard: 1,
    });
    const runId = await waitFixture.start({ account });
    const eventId = newWebhookId();
    await waitFixture.wait(runId, eventId, { stepType: 'WaitForWebhook', account });
    for (let sent = 0; sent < 5; sent += 1) {
      await expect(call(runId, newWebhookId(), {}, 'uncharged')).rejects.toThrow(none);
      await expect(call(runId, eventId, { body: Buffer.alloc(1_001) }, 'uncharged')).rejects.toThrow(
        refused(413),
      );
    }
    await call(runId, eventId, {}, 'uncharged');
    await waitFixture.wait(runId, eventId, { stepType: 'WaitForWebhook', stepId: 2, account });
    // The day’s only message is sent. A refused call does not use up the next one’s place.
    for (let sent = 0; sent < 5; sent += 1) {
      await expect(call(runId, eventId, {}, 'uncharged')).rejects.toThrow(
        expect.objectContaining({ code: 'daily_limit_reached' }),
      );
    }
    const { reportUsage, counterOf } = await import('../../../lambdas/usage/counter.ts');
    await reportUsage(account);
    await (await counterOf(account, Date.now())).report();
    const day = new Date().toISOString().slice(0, 10);
    const usage = await lambdas.usageOf('uncharged', day, day);
    expect(usage.get(day)).toMatchObject({ calls: 0, hooks: 1, bytes: Buffer.byteLength('grüß') });
  });
});

describe('a notification', () => {
  it('counts as the message that it makes, and wakes no run if that message exceeds the limit', async () => {
    const limits = { max_requests_per_day_hard: 1 };
    const account = { ...fixture.account, id: 'counted', limits };
    await fixture.saveAccount(account, undefined);
    const runs = [await waitFixture.start({ account }), await waitFixture.start({ account })];
    for (const runId of runs) await waitFixture.wait(runId, 'counted', { account });
    const [first = '', second = ''] = runs;
    // A call for which no run waits makes no message.
    expect(await waitFixture.notify(account, 'nobody', Buffer.from('x'))).toEqual([]);
    await waitFixture.notifyRun(account, { runId: first, eventId: 'later' }, Buffer.from('x'));
    expect(
      await waitFixture.notifyRun(account, { runId: first, eventId: 'counted' }, Buffer.from('x')),
    ).toHaveLength(1);
    await expect(waitFixture.notify(account, 'counted', Buffer.from('x'))).rejects.toThrow(refused(429));
    await expect(
      waitFixture.notifyRun(account, { runId: second, eventId: 'counted' }, Buffer.from('x')),
    ).rejects.toThrow(refused(429));
    expect(await waitFixture.listWaiters(account, 'counted')).toHaveLength(1);
  });

  it('may be as large as a message of its account', async () => {
    const account = { ...fixture.account, limits: { max_message_size: 10 } };
    const runId = await waitFixture.start();
    const large = Buffer.alloc(11);
    await expect(waitFixture.notify(account, 'large', large)).rejects.toThrow(refused(413));
    await expect(waitFixture.notifyRun(account, { runId, eventId: 'large' }, large)).rejects.toThrow(
      refused(413),
    );
    await expect(waitFixture.notify(account, 'e'.repeat(257), Buffer.from('x'))).rejects.toThrow(
      refused(412),
    );
  });
});
