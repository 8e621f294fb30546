import { randomBytes, randomUUID } from 'node:crypto';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { makeAccount } from '../support/accounts.ts';
import { callbackOf } from '../support/callbacks.ts';
import { eventually } from '../support/eventually.ts';
import { makeGroup } from '../support/groups.ts';
import { listMessages, untilState } from '../support/listedMessages.ts';
import { call, messageIdOf, service, type Answer } from '../support/publish.ts';
import { clockStage } from '../support/clockStage.ts';
import type { Stage } from '../support/stage.ts';
import { useReceiver } from '../support/useReceiver.ts';
import { expectRefusal } from '../support/refusals.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

const unique = (name: string): string => `${name}-${randomUUID().slice(0, 8)}`;

interface Where {
  readonly url: string;
  readonly token: string;
}

async function schedule(
  destination: string,
  headers: Record<string, string>,
  body = 'tick',
  where: Where = service,
): Promise<Answer> {
  const init = { method: 'POST', body, headers: { authorization: `Bearer ${where.token}`, ...headers } };
  return call(`/v2/schedules/${destination}`, init, where.url);
}

const created = z.object({ scheduleId: z.string() });

function scheduleIdOf(answer: Answer): string {
  if (answer.status !== 200) throw new Error(`Status ${answer.status}: ${JSON.stringify(answer.json)}`);
  return created.parse(answer.json).scheduleId;
}

const request = (method: string, path: string, where: Where = service): Promise<Answer> =>
  call(`/v2/schedules${path}`, { method, headers: { authorization: `Bearer ${where.token}` } }, where.url);

const receiver = useReceiver();

/** A cron expression that does not fire while the tests run. */
const rarely = '0 0 29 2 *';

describe('a schedule', () => {
  const made: string[] = [];
  afterEach(async () => {
    for (const id of made.splice(0)) await request('DELETE', `/${id}`);
  });
  const create = async (...args: Parameters<typeof schedule>): Promise<string> => {
    const id = scheduleIdOf(await schedule(...args));
    made.push(id);
    return id;
  };

  it('is shown with its settings', async () => {
    const id = unique('shown');
    const before = Date.now();
    await create(
      'https://example.com/hook?a=1',
      {
        'Svc-Cron': 'CRON_TZ=Europe/Berlin 0 9 * * MON-FRI',
        'Svc-Schedule-Id': id,
        'Content-Type': 'text/plain',
        'Svc-Method': 'PUT',
        'Svc-Retries': '2',
        'Svc-Delay': '90s',
        'Svc-Forward-X-Tenant': 'acme',
        'Svc-Callback': 'https://example.com/callback',
        'Svc-Label': 'nightly,reports',
        'Svc-Queue-Name': 'reports',
        'Svc-Flow-Control-Key': 'tenant',
        'Svc-Flow-Control-Value': 'parallelism=2, rate=5, period=1m',
      },
      'the body',
    );
    const { status, json } = await request('GET', `/${id}`);
    expect(status).toBe(200);
    expect(json).toMatchObject({
      scheduleId: id,
      cron: 'CRON_TZ=Europe/Berlin 0 9 * * MON-FRI',
      destination: 'https://example.com/hook?a=1',
      method: 'PUT',
      header: { 'X-Tenant': ['acme'], 'Content-Type': ['text/plain'] },
      body: 'the body',
      retries: 2,
      delay: 90,
      callback: 'https://example.com/callback',
      labels: ['nightly', 'reports'],
      queueName: 'reports',
      flowControlKey: 'tenant',
      parallelism: 2,
      rate: 5,
      period: 60,
      isPaused: false,
    });
    const shown = z.object({ createdAt: z.number(), nextScheduleTime: z.number() }).parse(json);
    expect(shown.createdAt).toBeGreaterThanOrEqual(before - 1_000);
    expect(new Date(shown.nextScheduleTime).getUTCMinutes()).toBe(0);
    const list = await request('GET', '');
    expect(list.json).toContainEqual(json);
  });

  it('is paused and resumed, by POST and by PATCH', async () => {
    const id = await create('https://example.com/', { 'Svc-Cron': rarely });
    expect(id).toMatch(/^scd_[0-9A-Z]{26}$/);
    for (const method of ['POST', 'PATCH']) {
      expect((await request(method, `/${id}/pause`)).status).toBe(200);
      expect((await request('GET', `/${id}`)).json).toMatchObject({ isPaused: true });
      expect((await request(method, `/${id}/resume`)).status).toBe(200);
      expect((await request('GET', `/${id}`)).json).toMatchObject({ isPaused: false });
    }
  });

  const change = (id: string, body: unknown): Promise<Answer> =>
    call(`/v2/schedules/${id}`, {
      method: 'PATCH',
      headers: { authorization: `Bearer ${service.token}` },
      body: JSON.stringify(body),
    });

  it('is changed in the fields of a request, and keeps the others', async () => {
    const id = await create(
      'https://user:secret@example.com/hook',
      {
        'Svc-Cron': rarely,
        'Content-Type': 'text/plain',
        'Svc-Redact-Fields': 'body,header[x-key]',
        'Svc-Forward-X-Key': 'secret',
        'Svc-Forward-X-Tenant': 'acme',
        'Svc-Label': 'nightly',
        'Svc-Delay': '90s',
        'Svc-Callback': 'https://user:secret@example.com/callback',
      },
      'secret',
    );
    const settings = z.looseObject({ createdAt: z.number(), header: z.record(z.string(), z.unknown()) });
    const before = settings.parse((await request('GET', `/${id}`)).json);
    expect((await change(id, { headers: { 'Svc-Cron': '0 1 * * *', 'Svc-Retries': '2' } })).json).toEqual({
      scheduleId: id,
    });
    const after = settings.parse((await request('GET', `/${id}`)).json);
    expect(after).toEqual({
      ...before,
      cron: '0 1 * * *',
      cronInWords: 'At 01:00.',
      retries: 2,
      nextScheduleTime: after['nextScheduleTime'],
    });

    const headers = {
      'Svc-Label': '',
      'Svc-Delay': '',
      'Svc-Forward-X-Tenant': '',
      'Content-Type': 'text/csv',
    };
    await change(id, { destination: 'https://example.com/other', body: 'a,b', headers });
    const { label: _, labels: __, delay: ___, ...rest } = after;
    const last = settings.parse((await request('GET', `/${id}`)).json);
    expect(last).toEqual({
      ...rest,
      destination: 'https://example.com/other',
      header: { 'X-Key': before.header['X-Key'], 'Content-Type': ['text/csv'] },
      body: last['body'],
      nextScheduleTime: last['nextScheduleTime'],
    });
    expect(last['body']).toMatch(/^REDACTED:/);
    expect(last['body']).not.toBe(before['body']);
  });

  it('loses no change to simultaneous ones', async () => {
    const body = randomBytes(3_000).toString('base64');
    const id = await create('https://example.com/', { 'Svc-Cron': rarely }, body);
    const changes = [
      { 'Svc-Cron': '0 2 * * *' },
      { 'Svc-Retries': '1' },
      { 'Svc-Label': 'changed' },
      { 'Svc-Forward-X-Tenant': 'acme' },
    ];
    const answers = await Promise.all(changes.map((headers) => change(id, { headers })));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect((await request('GET', `/${id}`)).json).toMatchObject({
      cron: '0 2 * * *',
      retries: 1,
      label: 'changed',
      header: { 'X-Tenant': ['acme'] },
      body,
    });
  });

  it.each<[body: unknown, status: number, says: RegExp]>([
    [{ cron: '0 1 * * *' }, 400, /^cron: .*; allowed is/],
    [{ headers: { 'Svc-Cron': '61 * * * *' } }, 400, /minute/],
    [{ headers: { 'Svc-Schedule-Id': 'other' } }, 400, /^headers.Svc-Schedule-Id is given/],
    [{ headers: { 'Svc-Retries': '999' } }, 412, /max_retries/],
    [{ destination: 'http://10.0.0.1/' }, 403, /^The destination is/],
    [{ destination: 'nobody' }, 404, /^There is no URL group "nobody"/],
  ])('stays as it is where the change %j is refused', async (body, status, says) => {
    const id = await create('https://example.com/', { 'Svc-Cron': rarely });
    const before = await request('GET', `/${id}`);
    await expectRefusal(change(id, body), status, says);
    expect((await request('GET', `/${id}`)).json).toEqual(before.json);
    expect((await change(unique('nobody'), {})).status).toBe(404);
  });

  it('ends when it is deleted', async () => {
    const id = scheduleIdOf(await schedule('https://example.com/', { 'Svc-Cron': rarely }));
    expect((await request('DELETE', `/${id}`)).status).toBe(200);
    for (const method of ['GET', 'DELETE']) {
      await expectRefusal(request(method, `/${id}`), 404, `There is no schedule "${id}".`);
    }
  });

  it.each<[headers: Record<string, string>, status: number, says: RegExp]>([
    [{}, 400, /^Svc-Cron is missing; allowed is a cron expression/],
    [{ 'Svc-Cron': '* * * * *', 'Svc-Schedule-Id': 'a b' }, 400, /^Svc-Schedule-Id is "a b"; allowed are/],
    [{ 'Svc-Cron': '* * * * *', 'Svc-Queue-Name': 'a/b' }, 400, /^Svc-Queue-Name is "a\/b"/],
  ])('is refused with %j', async (headers, status, says) => {
    const id = unique('refused');
    await expectRefusal(
      schedule('https://example.com/', { 'Svc-Schedule-Id': id, ...headers }),
      status,
      says,
    );
    expect((await request('GET', `/${id}`)).status).toBe(404);
  });
});

describe('a schedule that is run by hand', () => {
  const run = (id: string, where: Where = service): Promise<Answer> => request('POST', `/${id}/run`, where);
  const shown = async (id: string): Promise<unknown> => (await request('GET', `/${id}`)).json;

  it('publishes its message each time, paused or not, without changing its next fire', async () => {
    const inbox = receiver.inbox();
    const id = scheduleIdOf(
      await schedule(
        encodeURIComponent(`${inbox.url}?a=b`),
        {
          'Svc-Cron': rarely,
          'Svc-Method': 'PUT',
          'Svc-Forward-X-Tenant': 'acme',
          'Content-Type': 'text/plain',
          'Svc-Deduplication-Id': unique('once'),
          'Svc-Label': 'by hand',
        },
        'x'.repeat(20_000),
      ),
    );
    const before = await shown(id);
    const first = messageIdOf(await run(id));
    const second = messageIdOf(await run(id));
    expect(first).not.toBe(second);
    const deliveries = await inbox.received(2);
    expect(new Set(deliveries.map(({ headers }) => headers['svc-message-id']))).toEqual(
      new Set([first, second]),
    );
    for (const { headers, method, body } of deliveries) {
      expect([method, body.length]).toEqual(['PUT', 20_000]);
      expect(headers).toMatchObject({
        'svc-schedule-id': id,
        'x-tenant': 'acme',
        'content-type': 'text/plain',
      });
    }
    expect(await shown(id)).toEqual(before);
    await request('POST', `/${id}/pause`);
    const paused = messageIdOf(await run(id));
    await inbox.received(3);
    expect(await untilState(paused, 'DELIVERED')).toMatchObject({ scheduleId: id, label: 'by hand' });
    const { messages } = await listMessages({ scheduleId: id, state: 'ALL' });
    expect(messages.map(({ messageId }) => messageId)).toEqual([paused, second, first].sort().reverse());
    await request('DELETE', `/${id}`);
  });

  it('starts a run if it is a workflow’s', async () => {
    const endpoint = receiver.inbox();
    const headers = { 'Svc-Cron': rarely, 'Svc-Workflow-Init': 'true', 'Svc-Workflow-Url': endpoint.url };
    const id = scheduleIdOf(await schedule(endpoint.url, headers));
    const messageId = messageIdOf(await run(id));
    const [delivery] = await endpoint.received(1);
    expect(delivery?.headers).toMatchObject({ 'svc-message-id': messageId });
    await request('DELETE', `/${id}`);
    await call('/v2/workflows/runs', {
      method: 'DELETE',
      headers: { authorization: `Bearer ${service.token}` },
      body: JSON.stringify({ workflowUrl: endpoint.url }),
    });
  });

  it('is refused beyond the daily limit, and publishes nothing then', async () => {
    const { token } = await makeAccount({ max_requests_per_day: 1, max_requests_per_day_hard: 1 });
    const own = { url: service.url, token };
    const inbox = receiver.inbox();
    const id = scheduleIdOf(await schedule(inbox.url, { 'Svc-Cron': rarely }, 'tick', own));
    messageIdOf(await run(id, own));
    await expectRefusal(run(id, own), 429, /^The account's limit max_requests_per_day_hard is 1/);
    expect(await inbox.received(1)).toHaveLength(1);
  });

  it('is refused with a body, without its group, and for a missing schedule', async () => {
    const topicName = await makeGroup([{ url: receiver.origin }]);
    const id = scheduleIdOf(await schedule(topicName, { 'Svc-Cron': rarely }));
    const authorization = `Bearer ${service.token}`;
    await expectRefusal(
      call(`/v2/schedules/${id}/run`, {
        method: 'POST',
        headers: { authorization },
        body: 'mine',
      }),
      400,
      'The body has 4 bytes; a body is not allowed, because the schedule has its own.',
    );
    await call(`/v2/topics/${topicName}`, { method: 'DELETE', headers: { authorization } });
    await expectRefusal(run(id), 404, `There is no URL group "${topicName}": topic ${topicName} not found.`);
    await request('DELETE', `/${id}`);
    await expectRefusal(run(id), 404, `There is no schedule "${id}".`);
  });
});

describe.runIf(service.target === 'deployed')('a schedule on AWS', () => {
  it('fires every minute', async () => {
    const inbox = receiver.inbox();
    const id = scheduleIdOf(await schedule(inbox.url, { 'Svc-Cron': '* * * * *' }));
    const [delivery] = await inbox.received(1);
    expect(delivery?.headers['svc-schedule-id']).toBe(id);
    expect(delivery?.body.toString()).toBe('tick');
    // The fire is recorded after its message is sent.
    await eventually(
      () => request('GET', `/${id}`),
      ({ json }) => JSON.stringify(json).includes('"lastScheduleTime":'),
    );
    await request('DELETE', `/${id}`);
  });
});

describe.runIf(service.target === 'local')('time', () => {
  let stage: Stage;
  beforeAll(async () => {
    stage = await clockStage();
  });

  const create = async (destination: string, headers: Record<string, string>): Promise<string> =>
    scheduleIdOf(await schedule(destination, headers, 'tick', stage));
  const remove = (id: string): Promise<Answer> => request('DELETE', `/${id}`, stage);

  /** Sets the clock to a second after an hourly schedule's next fire, so that no other fire is due soon. */
  async function fire(id: string): Promise<void> {
    const times = z.object({ createdAt: z.number(), nextScheduleTime: z.number() });
    const { createdAt, nextScheduleTime } = times.parse((await request('GET', `/${id}`, stage)).json);
    await stage.advance(nextScheduleTime - createdAt + 1_000);
  }

  it('fires a schedule every hour until it is paused, and after it is resumed', async () => {
    const callbacks = receiver.inbox();
    const inbox = receiver.inbox();
    const id = await create(inbox.url, {
      'Svc-Cron': '0 * * * *',
      'Svc-Callback': callbacks.url,
      'Svc-Forward-X-Tenant': 'acme',
    });
    await fire(id);
    await stage.advance(hourMs);
    const deliveries = await inbox.received(2);
    expect(deliveries[0]?.headers).toMatchObject({ 'svc-schedule-id': id, 'x-tenant': 'acme' });
    expect(new Set(deliveries.map(({ headers }) => headers['svc-message-id'])).size).toBe(2);
    const [callback] = await callbacks.received(1);
    const scheduled = z.object({ scheduleId: z.string() });
    expect(callback && scheduled.parse(JSON.parse(callback.body.toString())).scheduleId).toBe(id);
    expect(callback && callbackOf(callback).status).toBe(200);
    const shown = z
      .object({
        lastScheduleTime: z.number(),
        nextScheduleTime: z.number(),
        lastScheduleStates: z.record(z.string(), z.string()),
      })
      .parse((await request('GET', `/${id}`, stage)).json);
    expect(shown.nextScheduleTime - shown.lastScheduleTime).toBe(hourMs);
    expect(Object.values(shown.lastScheduleStates)).toEqual(['SUCCESS']);

    await request('POST', `/${id}/pause`, stage);
    await stage.advance(5 * hourMs);
    expect(inbox.deliveries).toHaveLength(2);
    await request('POST', `/${id}/resume`, stage);
    await stage.advance(hourMs);
    expect(await inbox.received(3)).toHaveLength(3);
    await remove(id);
    await stage.advance(3 * hourMs);
    expect(inbox.deliveries).toHaveLength(3);
  });

  it('fires a changed schedule with its new settings, including hidden ones', async () => {
    const callbacks = receiver.inbox();
    const inbox = receiver.inbox();
    const body = Buffer.from([0, 255, 254, 1]);
    const authorization = `Bearer ${stage.token}`;
    const { origin, pathname } = new URL(inbox.url);
    const made = await call(
      `/v2/schedules/${origin.replace('//', '//user:secret@')}/elsewhere`,
      {
        method: 'POST',
        body,
        headers: {
          authorization,
          'Upstash-Cron': '0 0 1 1 *',
          'Upstash-Forward-X-Key': 'secret',
          'Upstash-Redact-Fields': 'body,headers',
          'Upstash-Callback': callbacks.url.replace('//', '//user:secret@'),
          'Upstash-Callback-Forward-X-Trace': '7',
        },
      },
      stage.url,
    );
    const id = scheduleIdOf(made);
    const change = {
      destination: `${origin}${pathname}`,
      headers: { 'Svc-Cron': '* * * * *', 'Svc-Forward-X-Tenant': 'acme' },
    };
    const init = { method: 'PATCH', headers: { authorization }, body: JSON.stringify(change) };
    expect((await call(`/v2/schedules/${id}`, init, stage.url)).status).toBe(200);
    await stage.advance(minuteMs);
    const [delivery] = await inbox.received(1);
    expect(delivery?.body).toEqual(body);
    expect(delivery?.headers).toMatchObject({
      'upstash-schedule-id': id,
      'x-key': 'secret',
      'x-tenant': 'acme',
    });
    const [callback] = await callbacks.received(1);
    expect(callback?.headers).toMatchObject({
      authorization: `Basic ${Buffer.from('user:secret').toString('base64')}`,
      'x-trace': '7',
    });
    await remove(id);
  });

  it('publishes a schedule to each endpoint of a group, and continues after the group is gone', async () => {
    const inbox = receiver.inbox();
    const group = unique('fan');
    const endpoints = Array.from({ length: 3 }, (_, index) => ({
      url: `${inbox.url}/${index}`,
      name: `e${index}`,
    }));
    const authorization = `Bearer ${stage.token}`;
    const add = { method: 'POST', headers: { authorization }, body: JSON.stringify({ endpoints }) };
    expect((await call(`/v2/topics/${group}/endpoints`, add, stage.url)).status).toBe(200);
    const id = await create(group, { 'Svc-Cron': '0 * * * *' });
    await fire(id);
    const deliveries = await inbox.received(3);
    expect(deliveries.map(({ headers }) => headers['svc-endpoint-name']).sort()).toEqual(['e0', 'e1', 'e2']);

    await call(`/v2/topics/${group}`, { method: 'DELETE', headers: { authorization } }, stage.url);
    await stage.advance(hourMs);
    const shown = z.object({
      lastScheduleStates: z.record(z.string(), z.string()),
      nextScheduleTime: z.number(),
    });
    const { lastScheduleStates } = shown.parse((await request('GET', `/${id}`, stage)).json);
    expect(lastScheduleStates).toEqual({
      [`There is no URL group "${group}": topic ${group} not found.`]: 'FAIL',
    });

    await call(`/v2/topics/${group}/endpoints`, add, stage.url);
    await stage.advance(hourMs);
    await inbox.received(6);
    await remove(id);
  });
});
