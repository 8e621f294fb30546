import { describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { api, deadLettered, ok, publishDelayed, query, unique } from '../support/api.ts';
import { eventually } from '../support/eventually.ts';
import { makeGroup } from '../support/groups.ts';
import {
  getInAnyState,
  listedMessages,
  listMessages,
  untilState,
  type ListedMessage,
} from '../support/listedMessages.ts';
import { errorOf, messageIdOf, publish } from '../support/publish.ts';
import { sizeOf } from '../support/sample.ts';
import { useReceiver } from '../support/useReceiver.ts';

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
    // One filter among others:
    const one = { messageId: ids };
    expect(idsOf((await listMessages(one)).messages)).toEqual([byState['RETRY'], byState['CREATED']]);
    expect(idsOf((await listMessages({ ...one, state: 'FAILED' })).messages)).toEqual([byState['FAILED']]);
    expect((await listMessages({ ...one, toDate: 1 })).messages).toEqual([]);
  });

  it.each<[filter: string, make: () => Promise<{ found: string; filters: Filters }>]>([
    [
      'url',
      async () => {
        const { url } = receiver.inbox();
        await publishDelayed(`${url}/other`);
        return { found: await publishDelayed(url), filters: { url } };
      },
    ],
    [
      'host and path',
      async () => {
        const host = `${unique('host')}.example.com`;
        await publishDelayed(`https://${host}/b`);
        return { found: await publishDelayed(`https://${host}/a`), filters: { host, path: '/a' } };
      },
    ],
    [
      'topicName',
      async () => {
        const topicName = await makeGroup([{ url: receiver.origin }]);
        const answer = await publish(topicName, { headers: { 'Svc-Delay': '10m' } });
        const [{ messageId } = { messageId: '' }] = z
          .array(z.object({ messageId: z.string() }))
          .parse(answer.json);
        return { found: messageId, filters: { topicName } };
      },
    ],
    [
      'queueName',
      async () => {
        const queueName = unique('queue');
        await ok(api('POST', '/v2/queues', { body: { queueName } }));
        await ok(api('POST', `/v2/queues/${queueName}/pause`));
        const answer = await api('POST', `/v2/enqueue/${queueName}/${receiver.origin}`);
        return { found: messageIdOf(answer), filters: { queueName } };
      },
    ],
    [
      'flowControlKey',
      async () => {
        const flowControlKey = unique('flow');
        const headers = { 'Svc-Flow-Control-Key': flowControlKey, 'Svc-Flow-Control-Value': 'parallelism=1' };
        return { found: await publishDelayed(receiver.origin, headers), filters: { flowControlKey } };
      },
    ],
    [
      'fromDate and toDate',
      async () => {
        const label = unique('label');
        const headers = { 'Svc-Label': label };
        await publishDelayed(receiver.origin, headers);
        const [before] = await listedMessages({ label }, 1);
        const least = Number(before?.['createdAt']) + 1;
        await eventually(
          () => Promise.resolve(Date.now()),
          (time) => time > least,
        );
        const found = await publishDelayed(receiver.origin, headers);
        const [newest] = await listedMessages({ label }, 2);
        return { found, filters: { label, fromDate: least, toDate: Number(newest?.['createdAt']) } };
      },
    ],
  ])('filters by %s', async (_filter, make) => {
    const { found, filters } = await make();
    expect(idsOf(await listedMessages(filters, 1))).toEqual([found]);
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

  it('is paged through thousands, and a selective filter needs few requests', async () => {
    const most = sizeOf({ ordinary: 1_000, thorough: 10_000 });
    const label = unique('label');
    const published = new Set<string>();
    const answers = z.array(z.object({ messageId: z.string() }));
    for (let made = 0; made < most; made += 1_000) {
      const body = Array.from({ length: 1_000 }, (_, index) => ({
        destination: 'https://example.com/',
        headers: { 'Svc-Delay': '14m', 'Svc-Label': index % 100 === 0 ? `${label},${label}-few` : label },
      }));
      for (const { messageId } of answers.parse(await ok(api('POST', '/v2/batch', { body })))) {
        published.add(messageId);
      }
    }
    await listedMessages({ messageIds: [...published].at(-1) }, 1);
    const pages = await allPages({ label });
    // There may be other messages after the last one, which are searched, too.
    expect([most / 100, most / 100 + 1]).toContain(pages.length);
    expect(idsOf(pages.flat())).toEqual([...published].sort().reverse());
    const few = await allPages({ label: `${label}-few`, count: most / 100 });
    expect(few.flat()).toHaveLength(most / 100);
    // A page ends after a second, but not before this number of rows, including other tests’.
    const leastLooked = 300;
    expect(few.length).toBeLessThanOrEqual(Math.ceil(most / leastLooked) + 2);
    expect((await allPages({ label: `${label}-none` })).flat()).toEqual([]);
    expect((await allPages({ label, state: 'DELIVERED' })).flat()).toEqual([]);
    let cursor: string | undefined;
    do {
      const cancelled = await ok(api('DELETE', `/v2/messages${query({ label, cursor })}`));
      ({ cursor } = z.object({ cursor: z.optional(z.string()) }).parse(cancelled));
    } while (cursor !== undefined);
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

  it('counts as delivered if its cancellation was too late for the attempt in flight', async () => {
    let answer = (): void => undefined;
    const inbox = receiver.inbox((_delivery, response) => {
      answer = () => {
        response.writeHead(200).end();
      };
    });
    const messageId = messageIdOf(await publish(inbox.url));
    await inbox.received(1);
    await ok(api('DELETE', `/v2/messages/${messageId}`));
    expect(await getInAnyState(messageId)).toMatchObject({ state: 'CANCELED', retried: 0 });
    answer();
    expect(await untilState(messageId, 'DELIVERED')).toMatchObject({ retried: 1 });
  });
});

describe('a wrong request for messages', () => {
  it.each<[text: string, says: RegExp]>([
    ['labels=x', /^"labels" is not a filter here; known are topicName, .*messageId, state, .*messageIds\.$/],
    [
      'state=ERROR',
      /^state is "ERROR"; allowed are CREATED, ACTIVE, RETRY, DELIVERED, FAILED, CANCELED, CANCELLED, ALL\.$/,
    ],
    ['state=CREATED,waiting', /^state is "waiting"/],
    ['state=constructor', /^state is "constructor"/],
    ['state=', /^state is empty/],
    ['count=101', /^count is "101"; allowed is a whole number from 1 to 100\.$/],
    ['count=0', /^count is "0"/],
    ['fromDate=yesterday', /^fromDate is "yesterday"/],
    ['cursor=x', /^cursor is not one that this list handed out/],
  ])('with %s is refused', async (text, says) => {
    const answer = await api('GET', `/v2/messages?${text}`);
    expect([answer.status, errorOf(answer)]).toEqual([400, expect.stringMatching(says)]);
  });

  it('with more than 1,000 ids is refused', async () => {
    const messageIds = Array.from({ length: 1_001 }, () => 'x').join(',');
    const answer = await api('GET', `/v2/messages${query({ messageIds })}`);
    expect([answer.status, errorOf(answer)]).toEqual([400, 'messageIds has 1001 ids; allowed are 1000.']);
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
      const answer = await api(method, `${path}${query({ label, cursor })}`);
      expect([answer.status, errorOf(answer)]).toEqual([400, expect.stringMatching(/^cursor is not one/)]);
    }
  });

  it('for one message in an invalid state is refused', async () => {
    const messageId = await publishDelayed(receiver.origin);
    for (const state of ['DELIVERED', 'all', '']) {
      const answer = await api('GET', `/v2/messages/${messageId}?state=${state}`);
      expect([answer.status, errorOf(answer)]).toEqual([
        400,
        `state is "${state}"; allowed is ALL, for a message that has ended as well.`,
      ]);
    }
  });

  it.each(['msg_x', 'msg_01M7W4BM2WG14BG3V1YN3YTREK', 'msg_01M7W4BM2WG14BG3V1YN3YTREK~000000'])(
    'for the unknown message %s is a 404',
    async (messageId) => {
      const answer = await api('GET', `/v2/messages/${messageId}?state=ALL`);
      expect([answer.status, errorOf(answer)]).toEqual([
        404,
        expect.stringMatching(/^There is no message ".*", or it is no longer kept\.$/),
      ]);
    },
  );
});
