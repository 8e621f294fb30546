import { describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { api, deadLettered, ok, publishDelayed, query, unique } from '../support/api.ts';
import { makeGroup } from '../support/groups.ts';
import {
  getInAnyState,
  listedMessages,
  listMessages,
  untilState,
  type ListedMessage,
} from '../support/listedMessages.ts';
import { errorOf, messageIdOf, publish } from '../support/publish.ts';
import { useReceiver } from '../support/useReceiver.ts';
import { expectRefusal } from '../support/refusals.ts';

const receiver = useReceiver();

type Filters = Parameters<typeof query>[0];

const idsOf = (messages: readonly ListedMessage[]): readonly string[] =>
  messages.map(({ messageId }) => messageId);

async function allPages(filters: Filters, between: () => Promise<unknown> = () => Promise.resolve()) {
  const pages: (readonly ListedMessage[])[] = [];
  let cursor: string | undefined;
  do {
    const next = await listMessages({ ...filters, cursor });
    pages.push(next.messages);
    cursor = next.cursor;
    await between();
  } while (cursor !== undefined);
  return pages;
}

async function oneOfEach(label: string): Promise<Readonly<Record<string, string>>> {
  const failing = receiver.inbox((_delivery, response) => response.writeHead(503).end('busy'));
  const headers = { 'Svc-Label': label };
  const created = await publishDelayed(receiver.origin, headers);
  const retried = messageIdOf(
    await publish(failing.url, { headers: { ...headers, 'Svc-Retry-Delay': '600000' } }),
  );
  const delivered = messageIdOf(await publish(receiver.inbox().url, { headers, body: 'the body' }));
  const failed = messageIdOf(await publish(failing.url, { headers: { ...headers, 'Svc-Retries': '0' } }));
  const cancelled = await publishDelayed(receiver.origin, headers);
  await ok(api('DELETE', `/v2/messages/${cancelled}`));
  await untilState(retried, 'RETRY');
  await untilState(delivered, 'DELIVERED');
  await untilState(failed, 'FAILED');
  return { CREATED: created, RETRY: retried, DELIVERED: delivered, FAILED: failed, CANCELED: cancelled };
}

describe('the list of messages', () => {
  it('shows waiting messages once each, the newest first, with their state', async () => {
    const label = unique('label');
    const before = Date.now();
    const { CREATED: created, RETRY: retried } = await oneOfEach(label);
    const [first, second, ...more] = await listedMessages({ label }, 2);
    expect(more).toEqual([]);
    expect(first).toMatchObject({ messageId: retried, state: 'RETRY', retried: 1, responseStatus: 503 });
    expect(Number(first?.['nextDeliveryTime'])).toBeGreaterThan(before + 500_000);
    expect(second).toMatchObject({
      messageId: created,
      state: 'CREATED',
      retried: 0,
      url: receiver.origin,
      method: 'POST',
      label,
    });
    expect(second?.['nextDeliveryTime']).toBe(second?.['notBefore']);
    for (const one of [first, second]) {
      expect(one).not.toHaveProperty('endedAt');
      expect(one).not.toHaveProperty('body');
    }
    expect(second).not.toHaveProperty('responseStatus');
  });

  it('filters by each state, by several, and by all', async () => {
    const label = unique('label');
    const byState = await oneOfEach(label);
    for (const [state, messageId] of Object.entries(byState)) {
      const [only, ...more] = await listedMessages({ label, state }, 1);
      expect([only, more]).toEqual([expect.objectContaining({ messageId, state }), []]);
      expect('endedAt' in (only ?? {})).toBe(!['CREATED', 'RETRY'].includes(state));
      expect('nextDeliveryTime' in (only ?? {})).toBe(['CREATED', 'RETRY'].includes(state));
    }
    const ended = ['CANCELED', 'FAILED', 'DELIVERED'].map((state) => byState[state]);
    for (const state of ['DELIVERED,FAILED,CANCELED', ['delivered', 'FAILED', 'CANCELLED']]) {
      expect(idsOf(await listedMessages({ label, state }, 3))).toEqual(ended);
    }
    const all = await listedMessages({ label, state: 'ALL' }, 5);
    expect(idsOf(all)).toEqual([...ended, byState['RETRY'], byState['CREATED']]);
    expect(idsOf(await listedMessages({ label, state: 'CREATED,ALL' }, 5))).toEqual(idsOf(all));
  });

  it('shows the messages of ids in any state, regardless of other filters', async () => {
    const byState = await oneOfEach(unique('label'));
    const ids = Object.values(byState);
    const given = [...ids, ids[0] ?? '', 'msg_x', 'msg_01M7W4BM2WG14BG3V1YN3YTREK', `${ids[0]}~000000`];
    for (const messageIds of [given, given.join(',')]) {
      const { messages } = await listMessages({
        messageIds,
        label: 'nobody-has-this',
        state: 'FAILED',
        toDate: 1,
      });
      expect(idsOf(messages)).toEqual(ids.toReversed());
    }
    const pages = await allPages({ messageIds: ids, count: 2 });
    expect(pages.map((one) => one.length)).toEqual([2, 2, 1]);
    expect(idsOf(pages.flat())).toEqual(ids.toReversed());
    // The filter for ids, alone and with others.
    const one = { messageId: ids };
    expect(idsOf((await listMessages(one)).messages)).toEqual([byState['RETRY'], byState['CREATED']]);
    expect(idsOf((await listMessages({ ...one, state: 'FAILED' })).messages)).toEqual([byState['FAILED']]);
    expect((await listMessages({ ...one, toDate: 1 })).messages).toEqual([]);
  });

  it('filters by each field alone', async () => {
    const [label, queueName, flowControlKey] = [unique('label'), unique('queue'), unique('flow')];
    const host = `${unique('host')}.example.com`;
    const url = `https://${host}/a`;
    const topicName = await makeGroup([{ url: receiver.origin }]);
    await ok(publish(topicName, { headers: { 'Svc-Delay': '10m' } }));
    await publishDelayed(`https://${host}/b`);
    const headers = {
      'Svc-Delay': '10m',
      'Svc-Label': label,
      'Svc-Flow-Control-Key': flowControlKey,
      'Svc-Flow-Control-Value': 'parallelism=1',
    };
    const found = messageIdOf(await api('POST', `/v2/enqueue/${queueName}/${url}`, { headers }));
    const [{ createdAt } = { createdAt: 0 }] = await listedMessages({ label }, 1);
    const dates = { fromDate: Number(createdAt), toDate: Number(createdAt) };
    for (const filters of [
      ...[{ url }, { host, path: '/a' }, { queueName }, { flowControlKey }, { label, ...dates }],
    ])
      expect([filters, idsOf((await listMessages(filters)).messages)]).toEqual([filters, [found]]);
    for (const other of [{ fromDate: dates.toDate + 1 }, { toDate: dates.fromDate - 1 }])
      expect((await listMessages({ label, ...other })).messages).toEqual([]);
    expect(await listedMessages({ topicName }, 1)).toMatchObject([{ topicName }]);
  });

  it('is paged without gaps or repetitions while messages start and end', async () => {
    const label = unique('label');
    const headers = { 'Svc-Label': label };
    const before = await Promise.all(
      Array.from({ length: 25 }, () => publishDelayed(receiver.origin, headers)),
    );
    await listedMessages({ label }, 25);
    const pages = await allPages({ label, state: 'ALL', count: 4 }, async () => {
      const added = await publishDelayed(receiver.origin, headers);
      await ok(api('DELETE', `/v2/messages/${added}`));
    });
    expect(pages.map((one) => one.length)).toEqual([4, 4, 4, 4, 4, 4, 1]);
    const seen = idsOf(pages.flat());
    expect(seen).toEqual([...before].sort().reverse());
  });
});

describe('a message that has ended', () => {
  it('is shown with its body and its outcome, unless only waiting states are requested', async () => {
    const label = unique('label');
    const byState = await oneOfEach(label);
    expect(await getInAnyState(byState['DELIVERED'] ?? '')).toMatchObject({
      state: 'DELIVERED',
      body: 'the body',
      retried: 1,
      responseStatus: 200,
      endedAt: expect.any(Number) as number,
    });
    expect(await getInAnyState(byState['CANCELED'] ?? '')).toMatchObject({
      state: 'CANCELED',
      body: 'later',
      retried: 0,
    });
    for (const [state, messageId] of Object.entries(byState)) {
      const {
        body: _body,
        callbackIds,
        dlqId,
        ...shown
      } = z.looseObject({ dlqId: z.optional(z.string()) }).parse(await getInAnyState(messageId));
      expect([shown]).toEqual((await listMessages({ label, state })).messages);
      expect(callbackIds).toEqual([]);
      expect(dlqId !== undefined).toBe(state === 'FAILED');
      const { status } = await api('GET', `/v2/messages/${messageId}`);
      expect(status).toBe(['CREATED', 'RETRY'].includes(state) ? 200 : 404);
    }
  });

  it('names its callbacks and its dead letter', async () => {
    const told = receiver.inbox();
    const failing = receiver.inbox((_delivery, response) => response.writeHead(503).end());
    const messageId = messageIdOf(
      await publish(failing.url, {
        headers: {
          'Svc-Retries': '1',
          'Svc-Retry-Delay': '0',
          'Svc-Callback': `${told.url}/each`,
          'Svc-Failure-Callback': `${told.url}/last`,
        },
      }),
    );
    const deliveries = await told.received(3);
    const { callbackIds, dlqId } = z
      .object({ callbackIds: z.array(z.string()), dlqId: z.string() })
      .parse(await getInAnyState(messageId));
    const arrived = deliveries.map(({ headers }) => headers['svc-message-id']);
    expect([...callbackIds].sort()).toEqual([...arrived].sort());
    const last = deliveries.find(({ target }) => target.endsWith('/last'));
    expect(callbackIds.at(-1)).toBe(last?.headers['svc-message-id']);
    const all = { state: 'ALL', messageId: [messageId, ...callbackIds] };
    const { messages: callbacks } = await listMessages({ ...all, kind: 'callback' });
    expect(idsOf(callbacks).toSorted()).toEqual(callbackIds.toSorted());
    for (const { callbackOf } of callbacks) expect(callbackOf).toBe(messageId);
    expect(idsOf((await listMessages({ ...all, kind: 'published' })).messages)).toEqual([messageId]);
    expect((await listMessages({ ...all, kind: 'run' })).messages).toEqual([]);
    expect(errorOf(await api('GET', '/v2/messages?kind=other'))).toContain('published, callback, run');
    const [deadLetter] = await deadLettered({ messageId }, 1);
    expect(dlqId).toBe(deadLetter?.dlqId);
  });
});

describe('a wrong request for messages', () => {
  it.each<[text: string, says: RegExp]>([
    [
      'state=ERROR',
      /^state is "ERROR"; allowed are CREATED, ACTIVE, RETRY, DELIVERED, FAILED, CANCELED, CANCELLED, ALL\.$/,
    ],
    ['state=CREATED,waiting', /^state is "waiting"/],
    ['count=101', /^count is "101"; allowed is a whole number from 1 to 100\.$/],
  ])('with %s is refused', async (text, says) => {
    await expectRefusal(api('GET', `/v2/messages?${text}`), 400, says);
  });

  it('with another list’s cursor is refused', async () => {
    const label = unique('label');
    await Promise.all([1, 2].map(() => publishDelayed(receiver.origin, { 'Svc-Label': label })));
    await listedMessages({ label }, 2);
    const { cursor } = await listMessages({ label, count: 1 });
    expect(cursor).toBeDefined();
    for (const [method, path] of [
      ['DELETE', '/v2/messages'],
      ['GET', '/v2/logs'],
    ] as const) {
      await expectRefusal(api(method, `${path}${query({ label, cursor })}`), 400, /^cursor is not one/);
    }
  });
});
