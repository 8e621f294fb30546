import { describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { bulk, bulks } from '../../lambdas/wire/bulkAnswers.ts';
import { makeAccount, type AccountRecord } from '../support/accounts.ts';
import { api, makeToken, ok, query } from '../support/api.ts';
import { checkAnswer } from '../support/contract.ts';
import { eventually } from '../support/eventually.ts';
import { refusalOf, service } from '../support/publish.ts';
import { startRaw } from '../support/rawRuns.ts';
import { startStage } from '../support/stage.ts';
import { useReceiver } from '../support/useReceiver.ts';

const receiver = useReceiver();

interface By {
  readonly token: string;
  readonly url?: string;
}
type Filters = Parameters<typeof query>[0];

const started = z.object({ bulkId: z.string() });
const counted = z.object({ count: z.optional(z.number()) });

const ask = (
  by: By,
  method: string,
  path: string,
  filters: Filters,
  init: { headers?: Record<string, string>; body?: unknown } = {},
) =>
  api(method, `${path}${query({ background: 'true', ...filters })}`, {
    token: by.token,
    ...(by.url && { url: by.url }),
    ...init,
  });
async function start(...request: Parameters<typeof ask>): Promise<string> {
  const answer = await ask(...request);
  checkAnswer(`${request[1]} ${request[2]}`, answer);
  return started.parse(await ok(Promise.resolve(answer), 202)).bulkId;
}
const cancelAll = (by: By, filters: Filters = {}) => start(by, 'DELETE', '/v2/messages', filters);
const of = ({ token, url }: By) => ({ token, ...(url !== undefined && { url }) });
const look = async (by: By, bulkId: string) => bulk.parse(await ok(api('GET', `/v2/bulk/${bulkId}`, of(by))));
const listed = async (by: By) => bulks.parse(await ok(api('GET', '/v2/bulk', of(by)))).operations;
const stop = (by: By, bulkId: string) => api('DELETE', `/v2/bulk/${bulkId}`, of(by));
const resume = (by: By, bulkId: string) => api('POST', `/v2/bulk/${bulkId}/resume`, of(by));
const until = (by: By, bulkId: string, holds: (shown: z.infer<typeof bulk>) => boolean) =>
  eventually(() => look(by, bulkId), holds);
const ended = (by: By, bulkId: string) => until(by, bulkId, ({ state }) => state !== 'running');
const countIn = async (by: By, path: string) =>
  counted.parse(await ok(api('GET', `${path}/count`, of(by)))).count ?? 0;
const waiting = (by: By) => countIn(by, '/v2/messages');

/** Publishes messages, by default due long after the test. */
async function publishMany(
  by: By,
  count: number,
  headers: Readonly<Record<string, string>>,
  destination = 'https://example.com/',
) {
  const item = { destination, headers: { 'Svc-Delay': '10m', ...headers } };
  for (let left = count; left > 0; left -= 100) {
    const body = Array.from({ length: Math.min(left, 100) }, () => item);
    await ok(api('POST', '/v2/batch', { ...of(by), body }));
  }
}

/** The emulator of AWS takes seconds for a hundred. */
const isFast = service.target === 'local';

describe('cancelling in the background', () => {
  it('cancels all that match, shows its progress, and leaves later messages alone', async () => {
    const by = await makeAccount();
    const many = isFast ? 2_990 : 290;
    await publishMany(by, many, { 'Svc-Label': '東京' });
    await publishMany(by, 10, {});
    const bulkId = await cancelAll(by, { label: '東京' });
    await publishMany(by, 1, { 'Svc-Label': '東京' });
    const seen: number[] = [];
    const last = await until(by, bulkId, ({ state, done }) => {
      seen.push(done);
      return state !== 'running';
    });
    expect(last).toMatchObject({
      bulkId,
      operation: 'messages.cancel',
      filters: 'label=東京',
      state: 'done',
      done: many,
      failed: 0,
    });
    expect(seen).toEqual(seen.toSorted((one, other) => one - other));
    expect(new Set(seen).size).toBeGreaterThan(isFast ? 2 : 1);
    expect(await waiting(by)).toBe(11);
    expect(await listed(by)).toEqual([last]);
  });

  it('stops with the rest as it was, and resumes exactly there', async () => {
    const by = await makeAccount();
    const many = isFast ? 1_000 : 300;
    await publishMany(by, many, {});
    const bulkId = await cancelAll(by);
    await until(by, bulkId, ({ done }) => done > 0);
    const answer = await stop(by, bulkId);
    checkAnswer('DELETE /v2/bulk/{bulkId}', answer);
    expect(bulk.parse(answer.json).state).toBe('stopped');
    // The current step is finished nevertheless.
    const stopped = await eventually(
      async () => ({ ...(await look(by, bulkId)), waiting: await waiting(by) }),
      (shown) => shown.done + shown.waiting === many,
    );
    expect(stopped).toMatchObject({ state: 'stopped', failed: 0 });
    expect(stopped.waiting).toBeGreaterThan(0);
    checkAnswer('POST /v2/bulk/{bulkId}/resume', await resume(by, bulkId));
    expect(await ended(by, bulkId)).toMatchObject({ state: 'done', done: many, failed: 0 });
    expect(await waiting(by)).toBe(0);
    expect(bulk.parse((await stop(by, bulkId)).json).state).toBe('done');
    expect(bulk.parse((await resume(by, bulkId)).json).state).toBe('done');
  });

  it.runIf(service.target === 'local').each(['kill', 'stop'] as const)(
    'survives a restart of the stage (%s)',
    async (way) => {
      let stage = await startStage();
      try {
        await publishMany(stage, 1_500, {});
        const bulkId = await cancelAll(stage);
        await until(stage, bulkId, ({ done }) => done > 0);
        await stage[way]();
        stage = await startStage({ dataDir: stage.dataDir });
        expect(await ended(stage, bulkId)).toMatchObject({ state: 'done', done: 1_500, failed: 0 });
        expect(await waiting(stage)).toBe(0);
      } finally {
        await stage.remove();
      }
    },
  );
});

describe('dead letters in the background', () => {
  it('are sent again once each with the request’s settings, and later ones are left alone', async () => {
    const by = await makeAccount();
    const inbox = receiver.inbox(({ method }, response) =>
      response.writeHead(method === 'PUT' ? 200 : 500).end(),
    );
    const failing = { 'Svc-Delay': '0s', 'Svc-Retries': '0' };
    await publishMany(by, 45, failing, inbox.url);
    await eventually(
      () => countIn(by, '/v2/dlq'),
      (count) => count === 45,
    );
    const bulkId = await start(by, 'POST', '/v2/dlq/retry', {}, { headers: { 'Svc-Method': 'PUT' } });
    await publishMany(by, 1, failing, inbox.url);
    expect(await ended(by, bulkId)).toMatchObject({
      operation: 'dlq.retry',
      state: 'done',
      done: 45,
      failed: 0,
    });
    const all = await inbox.until((deliveries) => deliveries.length >= 91);
    const again = all.filter(({ method }) => method === 'PUT');
    expect(new Set(again.map(({ headers }) => headers['svc-message-id'])).size).toBe(45);
    expect(
      await eventually(
        () => countIn(by, '/v2/dlq'),
        (count) => count === 1,
      ),
    ).toBe(1);
    const deleting = await start(by, 'DELETE', '/v2/dlq', { responseStatus: '500' });
    expect(await ended(by, deleting)).toMatchObject({ operation: 'dlq.delete', state: 'done', done: 1 });
    expect(await countIn(by, '/v2/dlq')).toBe(0);
  });

  it('of runs are resumed once each, and deleted', async () => {
    const by = await makeAccount();
    const own = { token: by.token, url: service.url };
    let isWell = false;
    const inbox = receiver.inbox((_delivery, response) => response.writeHead(isWell ? 200 : 500).end());
    for (let number = 0; number < 25; number += 1) await startRaw(own, inbox, { 'upstash-retries': '0' });
    await eventually(
      () => countIn(by, '/v2/workflows/dlq'),
      (count) => count === 25,
    );
    const restarting = await start(by, 'POST', '/v2/workflows/dlq/restart', { workflowUrl: inbox.url });
    expect(await ended(by, restarting)).toMatchObject({
      operation: 'runDlq.restart',
      state: 'done',
      done: 25,
    });
    await inbox.until((deliveries) => deliveries.length >= 50);
    await eventually(
      () => countIn(by, '/v2/workflows/dlq'),
      (count) => count === 25,
    );
    isWell = true;
    const resuming = await start(by, 'POST', '/v2/workflows/dlq/resume', {});
    expect(await ended(by, resuming)).toMatchObject({ operation: 'runDlq.resume', state: 'done', done: 25 });
    expect(await inbox.until((deliveries) => deliveries.length >= 75)).toHaveLength(75);
    const deleting = await start(by, 'DELETE', '/v2/workflows/dlq', {});
    expect(await ended(by, deleting)).toMatchObject({ operation: 'runDlq.delete', state: 'done', done: 0 });
  });
});

describe('runs in the background', () => {
  const run = {
    'Svc-Workflow-Init': 'true',
    'Svc-Workflow-Sdk-Version': '1',
    'Svc-Feature-Set': 'LazyFetch,InitialBody',
    'Svc-Label': '東京',
  };

  it('are cancelled if they match and exist; the operation stops, resumes, and leaves later runs alone', async () => {
    const by = await makeAccount();
    const active = () => countIn(by, '/v2/workflows/runs');
    const many = isFast ? 350 : 25;
    await publishMany(by, many, run, 'https://example.com/東京');
    await publishMany(by, 1, run, 'https://example.com/other');
    const filters = { label: '東京', workflowUrl: 'https://example.com/%E6%9D%B1%E4%BA%AC' };
    const bulkId = await start(by, 'DELETE', '/v2/workflows/runs', filters);
    await publishMany(by, 1, run, 'https://example.com/東京');
    await ok(stop(by, bulkId));
    const stopped = await eventually(
      async () => ({ ...(await look(by, bulkId)), active: await active() }),
      (shown) => shown.done + shown.active === many + 2,
    );
    expect(['stopped', 'done']).toContain(stopped.state);
    await ok(resume(by, bulkId));
    expect(await ended(by, bulkId)).toMatchObject({
      operation: 'runs.cancel',
      state: 'done',
      done: many,
      failed: 0,
    });
    expect(await active()).toBe(2);
  });

  it.runIf(service.target === 'local')('are cancelled once each if the stage is killed', async () => {
    let stage = await startStage();
    try {
      await publishMany(stage, 350, run);
      const bulkId = await start(stage, 'DELETE', '/v2/workflows/runs', {});
      await until(stage, bulkId, ({ done }) => done > 0);
      await stage.kill();
      stage = await startStage({ dataDir: stage.dataDir });
      expect(await ended(stage, bulkId)).toMatchObject({ state: 'done', done: 350, failed: 0 });
      expect(await countIn(stage, '/v2/workflows/runs')).toBe(0);
    } finally {
      await stage.remove();
    }
  });
});

describe('deliveries in the background', () => {
  const idsIn = (deliveries: readonly { readonly headers: Readonly<Record<string, unknown>> }[]) =>
    new Set(deliveries.map(({ headers }) => headers['svc-message-id']));

  it('are published again once each with the request’s settings; another URL’s and later ones are left alone', async () => {
    const by = await makeAccount();
    const [inbox, other] = [receiver.inbox(), receiver.inbox()];
    const label = { 'Svc-Label': '東京', 'Svc-Delay': '0s' };
    await publishMany(by, 45, label, inbox.url);
    await publishMany(by, 1, label, other.url);
    await Promise.all([inbox.received(45), other.received(1)]);
    const filters = { label: '東京', url: inbox.url };
    await eventually(
      async () =>
        JSON.stringify(await ok(api('GET', `/v2/logs${query({ ...filters, state: 'DELIVERED' })}`, of(by)))),
      (page) => page.split('"DELIVERED"').length === 46,
    );
    const again = () =>
      start(by, 'POST', '/v2/messages/publish', filters, { headers: { 'Svc-Method': 'PUT' } });
    const both = await Promise.all([again(), again()]);
    for (const bulkId of both) {
      expect(await ended(by, bulkId)).toMatchObject({
        operation: 'messages.publish',
        state: 'done',
        done: 45,
        failed: 0,
      });
    }
    const all = await inbox.until((deliveries) => deliveries.length >= 135);
    expect(idsIn(all).size).toBe(135);
    expect(all.filter(({ method }) => method === 'PUT')).toHaveLength(90);
    expect(other.deliveries).toHaveLength(1);
    const trail = await eventually(
      () => ok(api('GET', '/v2/audit?action=messages.publish', of(by))),
      (page) => JSON.stringify(page).split('"number":45').length === 3,
    );
    expect(trail).toMatchObject({
      entries: [
        { actor: 'service', number: 45 },
        { actor: 'service', number: 45 },
        {
          actor: 'token',
          subject: 'background=true label=東京 url=…',
          changes: [{ field: 'Svc-Method', after: 'PUT' }],
        },
      ],
    });
  });

  it.runIf(service.target === 'local')('are published again once each if the stage is killed', async () => {
    let stage = await startStage();
    try {
      const inbox = receiver.inbox();
      const many = 300;
      await publishMany(stage, many, { 'Svc-Delay': '0s' }, inbox.url);
      await inbox.received(many);
      await eventually(
        async () => JSON.stringify(await ok(api('GET', '/v2/logs?state=DELIVERED', of(stage)))),
        (page) => page.split('"DELIVERED"').length === many + 1,
      );
      const bulkId = await start(stage, 'POST', '/v2/messages/publish', {});
      await until(stage, bulkId, ({ done }) => done > 0);
      await stage.kill();
      stage = await startStage({ dataDir: stage.dataDir });
      expect(await ended(stage, bulkId)).toMatchObject({ state: 'done', done: many, failed: 0 });
      const all = await inbox.until((deliveries) => idsIn(deliveries).size >= 2 * many);
      expect(idsIn(all).size).toBe(2 * many);
    } finally {
      await stage.remove();
    }
  });

  const publisherOf = (by: By) => makeToken({ scope: 'publish' }, of(by));

  it('are not published again without background=true, or by a token that only reads or publishes', async () => {
    const by = await makeAccount();
    const answer = await api('POST', '/v2/messages/publish', of(by));
    checkAnswer('POST /v2/messages/publish', answer);
    expect(refusalOf(answer)).toMatchObject({ error: 'background is not given; allowed is true.' });
    const reader = { token: by.read_only_token };
    for (const narrow of [reader, await publisherOf(by)]) {
      expect((await ask(narrow, 'POST', '/v2/messages/publish', {})).status).toBe(403);
      expect((await ask(narrow, 'DELETE', '/v2/workflows/runs', {})).status).toBe(403);
    }
    expect(await listed(by)).toEqual([]);
  });
});

describe('a request for the background', () => {
  it.each<[text: string, method: string, path: string, filters: Filters, init?: Parameters<typeof ask>[4]]>([
    ['background is "maybe"; allowed is true.', 'DELETE', '/v2/messages', { background: 'maybe' }],
    ['"colour" is not a filter here', 'DELETE', '/v2/messages', { colour: '東京' }],
    ['label is empty', 'DELETE', '/v2/dlq', { label: '' }],
    ['fromDate is "-1"', 'POST', '/v2/dlq/retry', { fromDate: '-1' }],
    ['messageIds is given; with background=true', 'DELETE', '/v2/messages', { messageIds: 'msg_1' }],
    ['dlqIds is given; with background=true', 'POST', '/v2/workflows/dlq/resume', { dlqIds: 'dlq_1' }],
    ['count is given; with background=true', 'DELETE', '/v2/workflows/dlq', { count: '5' }],
    ['cursor is given; with background=true', 'POST', '/v2/workflows/dlq/restart', { cursor: 'x' }],
    ['The body has 2 bytes', 'DELETE', '/v2/messages', {}, { body: {} }],
    ['Svc-Retries is "many"', 'POST', '/v2/dlq/retry', {}, { headers: { 'Svc-Retries': 'many' } }],
    ['"background" is not a filter here', 'GET', '/v2/messages', {}],
    [
      'workflowRunIds is given; with background=true',
      'DELETE',
      '/v2/workflows/runs',
      { workflowRunIds: 'a' },
    ],
    ['count is given; with background=true', 'DELETE', '/v2/workflows/runs', { count: '5' }],
    ['workflowUrlExactMatch is "東京"', 'DELETE', '/v2/workflows/runs', { workflowUrlExactMatch: '東京' }],
    ['The body has 2 bytes', 'DELETE', '/v2/workflows/runs', {}, { body: {} }],
    ['messageIds is given; with background=true', 'POST', '/v2/messages/publish', { messageIds: 'msg_1' }],
    ['"state" is not a filter here', 'POST', '/v2/messages/publish', { state: 'FAILED' }],
    ['Svc-Delay is "soon"', 'POST', '/v2/messages/publish', {}, { headers: { 'Svc-Delay': 'soon' } }],
  ])('is refused if %s, and begins nothing', async (text, method, path, filters, init) => {
    const by = await makeAccount();
    await publishMany(by, 1, {});
    const answer = await ask(by, method, path, filters, init);
    expect(answer.status).toBe(400);
    expect(refusalOf(answer).error).toContain(text);
    expect(await listed(by)).toEqual([]);
    expect(await waiting(by)).toBe(1);
  });

  it('needs the full token, and no other account sees or changes the operation', async () => {
    const [by, other]: AccountRecord[] = [await makeAccount(), await makeAccount()];
    if (by === undefined || other === undefined) throw new Error('There is no account.');
    const reader = { token: by.read_only_token };
    expect((await ask(reader, 'DELETE', '/v2/messages', {})).status).toBe(403);
    const bulkId = await cancelAll(by);
    expect((await stop(reader, bulkId)).status).toBe(403);
    expect((await resume(reader, bulkId)).status).toBe(403);
    const last = await ended(by, bulkId);
    expect(await look(reader, bulkId)).toEqual(last);
    expect(await listed(other)).toEqual([]);
    for (const [token, id] of [
      [other.token, bulkId],
      [by.token, 'blk_東京'],
      [by.token, 'x'.repeat(500)],
    ] as const) {
      for (const answer of [
        await api('GET', `/v2/bulk/${encodeURIComponent(id)}`, { token }),
        await stop({ token }, id),
        await resume({ token }, id),
      ]) {
        expect(refusalOf(answer).code).toBe('bulk_not_found');
      }
    }
  });

  it('is in the audit trail with its filters, and its end with the number', async () => {
    const by = await makeAccount();
    await publishMany(by, 3, { 'Svc-Label': 'nightly' });
    const bulkId = await cancelAll(by, { label: 'nightly', url: 'https://user:secret@example.com/' });
    await ended(by, bulkId);
    expect((await look(by, bulkId)).filters).toBe('label=nightly url=…');
    const trail = await eventually(
      () => ok(api('GET', '/v2/audit?action=messages.cancel', of(by))),
      (page) => JSON.stringify(page).includes('"number":3'),
    );
    expect(trail).toMatchObject({
      entries: [
        { actor: 'service', subject: bulkId, number: 3 },
        { actor: 'token', subject: 'background=true label=nightly url=…' },
      ],
    });
    await ok(stop(by, bulkId));
    expect(await ok(api('GET', '/v2/audit?action=bulk.stop', of(by)))).toMatchObject({
      entries: [{ subject: bulkId }],
    });
  });
});
