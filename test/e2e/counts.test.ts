import { describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { api, deadLettered, ok, publishDelayed, query, unique } from '../support/api.ts';
import { eventually } from '../support/eventually.ts';
import { getInAnyState, listedMessages, untilState } from '../support/listedMessages.ts';
import { messageIdOf, publish } from '../support/publish.ts';
import { startReceiver } from '../support/receiver.ts';
import { useReceiver } from '../support/useReceiver.ts';
import { expectRefusal } from '../support/refusals.ts';

const receiver = useReceiver();

type Filters = Parameters<typeof query>[0];

const times = { count: z.number(), firstFailedAt: z.number(), lastFailedAt: z.number() };
const counted = z.strictObject({
  count: z.number(),
  errors: z.optional(z.array(z.strictObject({ error: z.string(), ...times }))),
  labels: z.optional(z.array(z.strictObject({ label: z.string(), ...times }))),
  urls: z.optional(z.array(z.strictObject({ url: z.string(), ...times }))),
  groups: z.optional(
    z.array(
      z.strictObject({
        host: z.string(),
        responseStatus: z.number(),
        ...times,
      }),
    ),
  ),
});
type Counted = z.infer<typeof counted>;

const none: Counted = { count: 0, groups: [], errors: [], labels: [], urls: [] };

const count = async (list: string, filters: Filters): Promise<Counted> =>
  counted.parse(await ok(api('GET', `/v2/${list}/count${query(filters)}`)));

const counts = (list: string, filters: Filters, most: number): Promise<Counted> =>
  eventually(
    () => count(list, filters),
    (found) => found.count >= most,
  );

describe('the count of messages', () => {
  it('includes those that a cancellation would cancel: they wait, match, and belong to no run', async () => {
    const label = unique('label');
    const headers = { 'Svc-Label': label };
    const failing = receiver.inbox((_delivery, response) => response.writeHead(500).end());
    const retried = messageIdOf(
      await publish(failing.url, { headers: { ...headers, 'Svc-Retry-Delay': '600000' } }),
    );
    await untilState(retried, 'RETRY');
    await untilState(messageIdOf(await publish(receiver.inbox().url, { headers })), 'DELIVERED');
    const ids = await Promise.all(Array.from({ length: 4 }, () => publishDelayed(receiver.origin, headers)));
    await publishDelayed(receiver.origin);
    const { url } = receiver.inbox();
    await ok(api('POST', `/v2/trigger/${url}`, { headers: { ...headers, 'Svc-Delay': '10m' }, body: {} }));
    expect(await listedMessages({ label }, 6)).toHaveLength(6);

    expect(await count('messages', { label })).toEqual({ count: 5 });
    expect(await count('messages', { label, url: failing.url })).toEqual({ count: 1 });
    expect(await count('messages', { label: `${label}-other` })).toEqual({ count: 0 });
    const messageIds = [...ids, ids[0] ?? '', 'msg_x', 'msg_01M7W4BM2WG14BG3V1YN3YTREK'];
    expect(await count('messages', { messageIds, label: 'nobody' })).toEqual({ count: 4 });
    const { createdAt } = await getInAnyState(retried);
    expect(await count('messages', { label, toDate: Number(createdAt) })).toEqual({ count: 1 });
    expect(await ok(api('DELETE', `/v2/messages${query({ label })}`))).toEqual({ cancelled: 5 });
    expect(await count('messages', { label })).toEqual({ count: 0 });
    await ok(api('DELETE', `/v2/workflows/runs${query({ workflowUrl: url })}`));
  });
});

describe('the count of dead letters', () => {
  it('includes those that a deletion would delete, grouped by host and status', async () => {
    const label = unique('label');
    const before = Date.now();
    const gone = await startReceiver();
    const { url: away } = gone.inbox();
    await gone.close();
    const at = (status: number): string =>
      receiver.inbox((_delivery, response) => response.writeHead(status).end()).url;
    const urls = [at(500), at(500), at(500), at(503), away, away];
    const headers = { 'Svc-Label': label, 'Svc-Retries': '0' };
    await Promise.all(urls.map((url) => publish(url, { headers })));
    const entries = await deadLettered({ label }, 6);
    const found = await count('dlq', { label });
    const { host } = new URL(receiver.origin);
    expect(found).toMatchObject({
      count: 6,
      groups: [
        { host, responseStatus: 500, count: 3 },
        { host: new URL(away).host, responseStatus: 0, count: 2 },
        { host, responseStatus: 503, count: 1 },
      ].map((group) => ({ ...group, lastFailedAt: expect.any(Number) as number })),
    });
    for (const { lastFailedAt } of found.groups ?? []) {
      expect(lastFailedAt).toBeGreaterThan(before - 60_000);
      expect(lastFailedAt).toBeLessThan(Date.now() + 60_000);
    }
    expect((await count('dlq', { label, responseStatus: '503,0' })).count).toBe(3);
    const [first] = entries;
    expect(await count('dlq', { dlqIds: [first?.dlqId ?? '', 'dlq_x'], label: 'nobody' })).toMatchObject({
      count: 1,
      groups: [{ responseStatus: first?.responseStatus, count: 1 }],
    });
    expect(await ok(api('DELETE', `/v2/dlq${query({ label })}`))).toEqual({ deleted: 6 });
    expect(await count('dlq', { label })).toEqual(none);
  });

  it('groups them by reason without numbers and ids, by label and by URL, and each reason is a filter', async () => {
    const [label, customer] = [unique('label'), unique('customer')];
    const failing = receiver.inbox((delivery, response) => {
      response.writeHead(500).end(JSON.stringify({ error: 'Error', message: delivery.body.toString() }));
    });
    const silent = receiver.inbox((_delivery, response) => response.writeHead(502).end());
    const send = (url: string, body: string, labels: string) =>
      publish(url, { body, headers: { 'Svc-Label': labels, 'Svc-Retries': '0' } });
    await Promise.all([
      send(failing.url, 'order 4711, of cus_a81F00b2, is not known', `${label},${customer}`),
      send(failing.url, 'order 4712, of cus_b93E11c3, is not known', label),
      send(failing.url, 'the database is away', label),
      send(silent.url, 'x', label),
    ]);
    await deadLettered({ label }, 4);
    const found = await count('dlq', { label });
    const notKnown = 'Error: order …, of …, is not known';
    const shown = (groups: readonly { readonly count: number }[] = []) =>
      groups.map(({ count: many, ...group }) => [...Object.values(group), many]);
    const at = expect.any(Number) as number;
    expect(shown(found.errors)[0]).toEqual([notKnown, at, at, 2]);
    expect(new Set(found.errors?.map(({ error }) => error))).toEqual(
      new Set([notKnown, 'Error: the database is away', 'answered 502']),
    );
    expect(shown(found.labels)).toEqual([
      [label, at, at, 4],
      [customer, at, at, 1],
    ]);
    expect(shown(found.urls)).toEqual([
      [failing.url, at, at, 3],
      [silent.url, at, at, 1],
    ]);
    for (const group of found.errors ?? [])
      expect(group.firstFailedAt).toBeLessThanOrEqual(group.lastFailedAt);
    expect((await count('dlq', { label, error: notKnown })).count).toBe(2);
    const listed = z.object({ messages: z.array(z.looseObject({ responseBody: z.string() })) });
    const { messages } = listed.parse(await ok(api('GET', `/v2/dlq${query({ label, error: notKnown })}`)));
    expect(messages.every(({ responseBody }) => responseBody.includes('is not known'))).toBe(true);
    expect(messages).toHaveLength(2);
    expect(await ok(api('DELETE', `/v2/dlq${query({ label, error: notKnown })}`))).toEqual({ deleted: 2 });
    expect((await count('dlq', { label })).count).toBe(2);
  });
});

describe('the counts of runs', () => {
  it('include active runs and failed ones', async () => {
    const label = unique('label');
    const failing = receiver.inbox((_delivery, response) => response.writeHead(500).end());
    const trigger = async (url: string, headers: Readonly<Record<string, string>>): Promise<string> =>
      z
        .looseObject({ workflowRunId: z.string() })
        .parse(await ok(api('POST', `/v2/trigger/${url}`, { headers: { 'Svc-Label': label, ...headers } })))
        .workflowRunId;
    const ids = await Promise.all(
      [1, 2, 3].map(() => trigger(`${receiver.inbox().url}/later`, { 'Svc-Delay': '10m' })),
    );
    for (let number = 0; number < 2; number += 1) await trigger(failing.url, { 'Svc-Retries': '0' });

    expect(await counts('workflows/dlq', { label }, 2)).toMatchObject({
      count: 2,
      groups: [{ host: new URL(failing.url).host, responseStatus: 500, count: 2 }],
    });
    expect(await count('workflows/dlq', { label, error: 'answered 500' })).toMatchObject({
      count: 2,
      errors: [{ error: 'answered 500', count: 2 }],
      labels: [{ label, count: 2 }],
      urls: [{ url: failing.url, count: 2 }],
    });
    expect(await count('workflows/dlq', { label, responseStatus: 503 })).toEqual(none);
    expect(await count('dlq', { label })).toEqual(none);
    // The list shows a run’s end with a short delay.
    await eventually(
      () => count('workflows/runs', { label }),
      (found) => found.count === 3,
    );
    const workflowRunIds = [...ids, ids[0] ?? '', 'wfr_none', 'count', 'a/b'];
    expect(await count('workflows/runs', { workflowRunIds, label: 'nobody' })).toEqual({ count: 3 });
    expect(await count('workflows/runs', { label, path: '/nowhere' })).toEqual({ count: 0 });
    expect(await count('workflows/runs', { label, workflowUrl: receiver.origin })).toEqual({ count: 3 });
    const exactly = { workflowUrl: receiver.origin, workflowUrlExactMatch: 'true' };
    expect(await count('workflows/runs', { label, ...exactly })).toEqual({ count: 0 });

    expect(await ok(api('DELETE', `/v2/workflows/runs${query({ label })}`))).toEqual({ cancelled: 3 });
    expect(await count('workflows/runs', { workflowRunIds: ids })).toEqual({ count: 0 });
    expect(await ok(api('DELETE', `/v2/workflows/dlq${query({ label })}`))).toMatchObject({ deleted: 2 });
    expect((await count('workflows/dlq', { label })).count).toBe(0);
  });

  it('are at a path that no run can have: no run has the id "count"', async () => {
    await expectRefusal(
      api('POST', `/v2/trigger/${receiver.inbox().url}`, {
        headers: { 'Svc-Workflow-RunId': 'count' },
      }),
      400,
      /-Workflow-Runid is "count"; allowed are .*, but not "count"\.$/,
    );
  });
});

describe('a wrong request for a count', () => {
  it.each<[list: string, text: string, says: RegExp]>([
    [
      'messages',
      'count=5',
      /^"count" is not a filter here; known are topicName, .*, toDate, cursor, messageIds\.$/,
    ],
    ['messages', 'state=ALL', /^"state" is not a filter here/],
    ['dlq', 'source=workflow', /^"source" is not a filter here/],
    ['workflows/runs', 'count=5', /^"count" is not a filter here; known are workflowUrl, .*, workflowRunIds/],
    ['workflows/dlq', 'failureFunctionState=x', /^failureFunctionState is "x"/],
  ])('of %s with %s is refused', async (list, text, says) => {
    await expectRefusal(api('GET', `/v2/${list}/count?${text}`), 400, says);
  });
});
