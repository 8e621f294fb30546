import { describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { api, deadLettered, listDlq, ok, query, unique } from '../support/api.ts';
import { eventually } from '../support/eventually.ts';
import { makeGroup } from '../support/groups.ts';
import { messageIdOf, publish } from '../support/publish.ts';
import type { Inbox } from '../support/receiver.ts';
import { useReceiver } from '../support/useReceiver.ts';
import { expectRefusal } from '../support/refusals.ts';

const receiver = useReceiver();

type Filters = Parameters<typeof query>[0];

/** Makes an inbox that fails this number of first deliveries. */
const failing = (status = 500, body: string | Uint8Array = 'no', times = Infinity): Inbox =>
  receiver.inbox((_delivery, response, before) => {
    response.writeHead(before < times ? status : 200, { 'x-why': 'because' }).end(body);
  });

const idOfAnswer = (json: unknown): string => {
  const messageId = /msg_[0-9A-Z]{26}/.exec(JSON.stringify(json))?.[0];
  if (messageId === undefined) throw new Error(JSON.stringify(json));
  return messageId;
};

async function fail(destination: string, headers: Readonly<Record<string, string>> = {}, path = 'publish') {
  const answer = await api('POST', `/v2/${path}/${destination}`, {
    headers: { 'Svc-Retries': '0', ...headers },
  });
  const messageId = idOfAnswer(answer.json);
  const [entry] = await deadLettered({ messageId }, 1);
  if (entry === undefined) throw new Error('There is no entry.');
  return entry;
}

async function failMany(count: number) {
  const label = unique('label');
  const inbox = failing(500, 'no', count);
  await Promise.all(
    Array.from({ length: count }, (_, number) =>
      publish(inbox.url, { body: String(number), headers: { 'Svc-Label': label, 'Svc-Retries': '0' } }),
    ),
  );
  const entries = await deadLettered({ label }, count);
  return { label, inbox, dlqIds: entries.map(({ dlqId }) => dlqId) };
}

const retried = z.object({
  responses: z.array(z.object({ messageId: z.string() })),
  cursor: z.optional(z.string()),
});
const retry = async (filters: Filters, init: Parameters<typeof api>[2] = {}) =>
  retried.parse(await ok(api('POST', `/v2/dlq/retry${query(filters)}`, init), 201));
const remove = (filters: Filters, body?: unknown) => api('DELETE', `/v2/dlq${query(filters)}`, { body });
const getEntry = (dlqId: string) => api('GET', `/v2/dlq/${dlqId}`);

describe('a dead letter', () => {
  it('shows its message, and its destination’s last answer', async () => {
    const inbox = failing(503, 'out of order');
    const label = unique('label');
    const messageId = messageIdOf(
      await publish(inbox.url, {
        body: 'work',
        headers: {
          'Content-Type': 'text/plain',
          'Svc-Label': label,
          'Svc-Retries': '1',
          'Svc-Retry-Delay': '0',
          'Svc-Forward-X-Tenant': 'acme',
        },
      }),
    );
    const [listed] = await deadLettered({ label }, 1);
    const shown = {
      messageId,
      url: inbox.url,
      method: 'POST',
      header: { 'Content-Type': ['text/plain'], 'X-Tenant': ['acme'] },
      maxRetries: 1,
      retried: 1,
      label,
      responseStatus: 503,
      responseHeader: { 'X-Why': ['because'] },
      responseBody: 'out of order',
    };
    expect(listed).toMatchObject(shown);
    const times = z.object({ createdAt: z.number(), failedAt: z.number(), expiresAt: z.number() });
    const { createdAt, failedAt, expiresAt } = times.parse(listed);
    expect(failedAt).toBeGreaterThanOrEqual(createdAt);
    expect(expiresAt - failedAt).toBe(7 * 86_400_000);
    expect(listed?.dlqId).toMatch(/^dlq_[0-9A-HJKMNP-TV-Z]{26}$/);
    // Lists do not read messages’ bodies.
    expect(listed).not.toHaveProperty('body');
    expect(await ok(getEntry(listed?.dlqId ?? ''))).toMatchObject({
      ...shown,
      dlqId: listed?.dlqId,
      body: 'work',
    });
  });

  it('shows binary bodies in base64', async () => {
    const bytes = Buffer.from([0xff, 0xfe, 0x00, 0x41]);
    const inbox = failing(500, bytes);
    const messageId = messageIdOf(
      await publish(inbox.url, {
        body: Uint8Array.from(bytes),
        // Without it the emulator passes the body as text.
        headers: { 'Svc-Retries': '0', 'Content-Type': 'application/octet-stream' },
      }),
    );
    const [entry] = await deadLettered({ messageId }, 1);
    const shown = await ok(getEntry(entry?.dlqId ?? ''));
    expect(entry?.['responseBodyBase64']).toBe(bytes.toString('base64'));
    const base64 = bytes.toString('base64');
    expect(shown).toMatchObject({ bodyBase64: base64, responseBodyBase64: base64 });
    expect(shown).not.toHaveProperty('body');
    expect(shown).not.toHaveProperty('responseBody');
  });

  it('shows why there was no answer', async () => {
    const inbox = receiver.inbox(() => undefined);
    const entry = await fail(inbox.url, { 'Svc-Timeout': '1s' });
    expect(await ok(getEntry(entry.dlqId))).toMatchObject({
      responseStatus: 0,
      error: 'The destination did not answer within 1 s.',
    });
  });

  it('is gone once it is deleted', async () => {
    const { dlqId, messageId } = await fail(failing().url);
    await ok(api('DELETE', `/v2/dlq/${dlqId}`));
    expect((await getEntry(dlqId)).status).toBe(404);
    expect((await api('DELETE', `/v2/dlq/${dlqId}`)).status).toBe(404);
    expect((await api('POST', `/v2/dlq/retry/${dlqId}`)).status).toBe(404);
    expect((await listDlq({ messageId })).messages).toEqual([]);
  });
});

describe('a retried dead letter', () => {
  it('is delivered as a new message with the same content, and leaves the queue', async () => {
    const inbox = failing(500, 'no', 1);
    const messageId = messageIdOf(
      await publish(inbox.url, {
        body: 'work',
        headers: { 'Svc-Retries': '0', 'Svc-Method': 'PUT', 'Svc-Forward-X-Tenant': 'acme' },
      }),
    );
    const [{ dlqId } = { dlqId: '' }] = await deadLettered({ messageId }, 1);
    const again = messageIdOf({ ...(await api('POST', `/v2/dlq/retry/${dlqId}`)), status: 200 });
    expect(again).not.toBe(messageId);
    const [first, second] = await inbox.received(2);
    expect(second?.headers).toMatchObject({
      'svc-message-id': again,
      'svc-retried': '0',
      'x-tenant': 'acme',
    });
    expect([second?.method, second?.body, second?.target]).toEqual([
      first?.method,
      first?.body,
      first?.target,
    ]);
    expect((await getEntry(dlqId)).status).toBe(404);
    expect((await api('POST', `/v2/dlq/retry/${dlqId}`)).status).toBe(404);
    expect((await listDlq({ messageId })).messages).toEqual([]);
  });

  it('keeps its group, and a body of any size', async () => {
    const inbox = failing(500, 'no', 1);
    const name = await makeGroup([{ url: inbox.url, name: 'named' }]);
    const body = 'ü'.repeat(30_000);
    const { json } = await publish(name, { body, headers: { 'Svc-Retries': '0' } });
    const [{ dlqId } = { dlqId: '' }] = await deadLettered({ messageId: idOfAnswer(json) }, 1);
    await ok(api('POST', `/v2/dlq/retry/${dlqId}`), 201);
    const [, second] = await inbox.received(2);
    expect(second?.headers).toMatchObject({ 'svc-topic-name': name, 'svc-endpoint-name': 'named' });
    expect(second?.body.toString()).toBe(body);
  });

  it('is changed by the headers of the retry', async () => {
    const failures = receiver.inbox();
    const inbox = failing();
    const { dlqId } = await fail(inbox.url);
    const label = unique('label');
    await ok(
      api('POST', `/v2/dlq/retry/${dlqId}`, {
        headers: {
          'Svc-Retries': '1',
          'Svc-Retry-Delay': '0',
          'Svc-Label': label,
          'Svc-Method': 'PATCH',
          'Svc-Delay': '1s',
          'Svc-Failure-Callback': failures.url,
        },
      }),
      201,
    );
    await failures.received(1);
    expect(inbox.deliveries.map(({ method }) => method)).toEqual(['POST', 'PATCH', 'PATCH']);
    const [entry] = await deadLettered({ label }, 1);
    expect(entry).toMatchObject({ retried: 1, maxRetries: 1, method: 'PATCH' });
  });

  it.each<[headers: Record<string, string>, status: number, says: RegExp]>([
    [{ 'Svc-Retries': 'many' }, 400, /^Svc-Retries is "many"/],
    [{ 'Svc-Retries': '99' }, 412, /max_retries is 5/],
    [{ 'Svc-Failure-Callback': 'http://10.0.0.1' }, 403, /not a public address/],
  ])('stays where it is when the retry has the headers %j', async (headers, status, says) => {
    const { dlqId } = await fail(failing().url);
    for (const path of [`/v2/dlq/retry/${dlqId}`, `/v2/dlq/retry?dlqIds=${dlqId}`]) {
      await expectRefusal(api('POST', path, { headers }), status, says);
    }
    expect((await getEntry(dlqId)).status).toBe(200);
  });
});

describe('many dead letters', () => {
  it.each<
    [how: string, filters: (ids: readonly string[]) => Filters, body?: (ids: readonly string[]) => unknown]
  >([
    [
      'with commas, one of them twice and one unknown, and a filter, which is ignored',
      (ids) => ({ dlqIds: [...ids, ids[0], 'dlq_x'].join(','), label: 'nobody-has-this' }),
    ],
    ['in a JSON body', () => ({}), (ids) => ({ dlqIds: ids })],
  ])('are listed, retried and deleted by ids %s', async (_how, filters, body) => {
    const { label, inbox, dlqIds } = await failMany(4);
    const [kept = '', ...others] = dlqIds;
    if (body === undefined) {
      const { messages } = await listDlq(filters(others));
      expect(messages.map(({ dlqId }) => dlqId)).toEqual(others);
    }
    const [last = '', ...sent] = others;
    const { responses, cursor } = await retry(filters(sent), { body: body?.(sent) });
    expect(cursor).toBeUndefined();
    const deliveries = await inbox.received(4 + sent.length);
    expect(new Set(deliveries.slice(4).map(({ headers }) => headers['svc-message-id']))).toEqual(
      new Set(responses.map(({ messageId }) => messageId)),
    );
    expect(await ok(remove(filters([last]), body?.([last])))).toEqual({ deleted: 1 });
    const left = await eventually(
      async () => (await listDlq({ label })).messages,
      (entries) => entries.length === 1,
    );
    expect(left.map(({ dlqId }) => dlqId)).toEqual([kept]);
  });

  it('are retried by a filter, some at a time with a cursor', async () => {
    const { label, inbox } = await failMany(5);
    const first = await retry({ label, count: 2 });
    expect(first.responses).toHaveLength(2);
    const rest = await retry({ label, cursor: first.cursor });
    expect(rest.responses).toHaveLength(3);
    expect(rest.cursor).toBeUndefined();
    const deliveries = await inbox.received(10);
    expect(new Set(deliveries.map(({ headers }) => headers['svc-message-id'])).size).toBe(10);
    expect((await listDlq({ label })).messages).toEqual([]);
  });

  it('are paged without gaps or repetitions while new ones arrive', async () => {
    const { label, dlqIds } = await failMany(12);
    const seen: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await listDlq({ label, count: 5, cursor });
      seen.push(...page.messages.map(({ dlqId }) => dlqId));
      cursor = page.cursor;
      await fail(failing().url, { 'Svc-Label': label });
    } while (cursor !== undefined);
    expect(new Set(seen).size).toBe(seen.length);
    expect(seen).toEqual(expect.arrayContaining(dlqIds));
    expect(seen).toEqual(seen.toSorted().reverse());
  });
});

describe('the dead letter queue', () => {
  it('is listed and emptied by each filter alone', async () => {
    const topicName = await makeGroup([{ url: failing().url }]);
    const byGroup = await fail(topicName);
    const [label, queueName, flowControlKey] = [unique('label'), unique('queue'), unique('flow')];
    const { url } = failing(418);
    const from = Date.now();
    const headers = {
      'Svc-Label': `x,${label}`,
      'Svc-Flow-Control-Key': flowControlKey,
      'Svc-Flow-Control-Value': 'rate=9',
    };
    const found = await fail(url, headers, `enqueue/${queueName}`);
    const other = await fail(failing().url, { 'Svc-Label': `${label}2` });
    const { host, pathname } = new URL(url);
    const alone: readonly Filters[] = [
      ...[{ label }, { url }, { path: pathname }, { messageId: found.messageId }, { queueName }],
      ...[{ flowControlKey }, { responseStatus: ['418', '404'] }],
      { label, host, callerIp: String(found['callerIP']), fromDate: from - 60_000, toDate: from + 600_000 },
    ];
    for (const filters of alone) {
      const { messages } = await listDlq(filters);
      expect([filters, messages.map(({ dlqId }) => dlqId)]).toEqual([filters, [found.dlqId]]);
    }
    const none: readonly Filters[] = [
      ...[{ host: `x.${host}` }, { callerIp: '203.0.113.9' }],
      ...[{ toDate: from - 60_000 }, { fromDate: from + 600_000 }],
    ];
    for (const filters of none)
      expect([filters, (await listDlq({ label, ...filters })).messages]).toEqual([filters, []]);
    expect((await listDlq({ topicName })).messages).toMatchObject([{ dlqId: byGroup.dlqId }]);
    expect(await ok(remove({ queueName }))).toEqual({ deleted: 1 });
    expect((await getEntry(found.dlqId)).status).toBe(404);
    expect((await getEntry(other.dlqId)).status).toBe(200);
  });

  it.each<[method: string, path: string, says: RegExp]>([
    [
      'GET',
      '/v2/dlq?state=FAILED',
      /^"state" is not a filter here; known are .*, messageId, responseStatus, .*dlqIds\.$/,
    ],
    ['DELETE', '/v2/dlq?label', /^label is empty/],
    ['POST', '/v2/dlq/retry?url=', /^url is empty/],
    ['GET', '/v2/dlq?cursor=x', /^cursor is not one that this list handed out/],
    ['GET', '/v2/dlq?count=101', /^count is "101"/],
  ])('refuses %s %s', async (method, path, says) => {
    await expectRefusal(api(method, path), 400, says);
  });

  it.each([{ dlqIds: [] }, { messageIds: ['msg_x'] }, 'all'])('refuses the body %j', async (body) => {
    for (const answer of [await remove({}, body), await api('POST', '/v2/dlq/retry', { body })]) {
      await expectRefusal(answer, 400, 'allowed is {"dlqIds"');
    }
  });

  it.each(['dlq_x', 'msg_01M7W4BM2WG14BG3V1YN3YTREK', 'x'.repeat(3_000)])(
    'has no entry %s',
    async (dlqId) => {
      for (const [method, path] of [
        ['GET', dlqId],
        ['DELETE', dlqId],
        ['POST', `retry/${dlqId}`],
      ] as const) {
        await expectRefusal(api(method, `/v2/dlq/${path}`), 404, /^There is no dead letter /);
      }
    },
  );
});
