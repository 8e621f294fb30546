import { beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { makeAccount } from '../support/accounts.ts';
import { api, deadLettered, ok, publishDelayed, query } from '../support/api.ts';
import { clockStage } from '../support/clockStage.ts';
import { eventually } from '../support/eventually.ts';
import { getInAnyState } from '../support/listedMessages.ts';
import { messageIdOf, publish, service } from '../support/publish.ts';
import type { Inbox } from '../support/receiver.ts';
import { expectRefusal } from '../support/refusals.ts';
import { useReceiver } from '../support/useReceiver.ts';

const receiver = useReceiver();

const many = 1_000;
const atOnce = 500;
const queueName = 'waits';
const label = '東京';
const key = '顧客 東京';
const laterHost = 'later.example.com';

const states = z.object({
  delayed: z.number(),
  waiting: z.number(),
  retrying: z.number(),
  open: z.number(),
});
const counted = z.object({ count: z.number(), states: z.optional(states) });
type Filters = Parameters<typeof query>[0];

const countWith = async (filters: Filters = {}, by: Parameters<typeof api>[2] = {}) =>
  counted.parse(await ok(api('GET', `/v2/messages/count${query({ by: 'state', ...filters })}`, by)));

const none = { delayed: 0, waiting: 0, retrying: 0, open: 0 };
const whole = (some: Partial<typeof none>) => {
  const all = { ...none, ...some };
  return { count: Object.values(all).reduce((sum, one) => sum + one), states: all };
};

async function publishMany(count: number, item: Readonly<Record<string, unknown>>): Promise<void> {
  for (let left = count; left > 0; left -= atOnce) {
    const body = Array.from({ length: Math.min(left, atOnce) }, () => item);
    await ok(api('POST', '/v2/batch', { body }));
  }
}

const becomes = (expected: ReturnType<typeof whole>, filters: Filters = {}) =>
  eventually(
    () => countWith(filters),
    (found) => JSON.stringify(found) === JSON.stringify(expected),
  );

// Elsewhere, other tests use the account at the same time.
describe.runIf(service.target === 'local')('the number of waiting messages', () => {
  let failing: Inbox;
  let accepting: Inbox;
  const all = { delayed: many, waiting: many, retrying: many, open: many };

  beforeAll(async () => {
    failing = receiver.inbox((_delivery, response) => response.writeHead(503).end());
    accepting = receiver.inbox((_delivery, response) => response.writeHead(202).end());
    await ok(api('POST', '/v2/queues', { body: { queueName, paused: true } }));
    const flow = { 'Svc-Flow-Control-Key': key, 'Svc-Flow-Control-Value': 'rate=100000' };
    await publishMany(many, {
      destination: `https://${laterHost}/`,
      headers: { 'Svc-Delay': '1h', 'Svc-Label': label },
    });
    await publishMany(many, { destination: 'https://example.com/', queue: queueName });
    await publishMany(many, { destination: failing.url, headers: { 'Svc-Retry-Delay': '3600000' } });
    await publishMany(many, { destination: accepting.url, headers: { 'Svc-Deferred': '1h', ...flow } });
    await becomes(whole(all));
  });

  it('is exact for the account, a queue, a key, a host and a label', async () => {
    const { host } = new URL(failing.url);
    for (const [filters, expected] of [
      [{}, all],
      [{ queueName }, { waiting: many }],
      [{ queueName: '東京' }, {}],
      [{ label }, { delayed: many }],
      [{ label: '京' }, {}],
      [{ flowControlKey: key }, { open: many }],
      [{ host }, { retrying: many, open: many }],
      [{ host: laterHost }, { delayed: many }],
      [{ host: laterHost, label: ['x', label] }, { delayed: many }],
      [{ host: laterHost, queueName }, {}],
    ] as const satisfies [Filters, Partial<typeof none>][]) {
      expect([filters, await countWith(filters)]).toEqual([filters, whole(expected)]);
      expect(await ok(api('GET', `/v2/messages/count${query(filters)}`))).toEqual({
        count: whole(expected).count,
      });
    }
  });

  it('is shown in the metrics, and to a token that may only read', async () => {
    const { readOnlyToken: token } = service;
    expect(await countWith({}, { token })).toEqual(whole(all));
    const text = z.string().parse(await ok(api('GET', '/v2/metrics', { token })));
    for (const [state, value] of Object.entries(all))
      expect(text).toContain(`\nsvc_messages_pending{state="${state}"} ${value}\n`);
    expect(text).toContain(`\nsvc_messages_waiting ${many}\n`);
  });

  it('does not include those of another account', async () => {
    const { token } = await makeAccount();
    expect(await countWith({}, { token })).toEqual(whole({}));
    expect(await countWith({ queueName }, { token })).toEqual(whole({}));
  });

  it('changes once with each end, however often it is requested', async () => {
    const other = { 'Svc-Label': 'few' };
    const delayed = [
      await publishDelayed('https://example.com/', other),
      await publishDelayed('https://example.com/', other),
    ];
    const retried = messageIdOf(
      await publish(failing.url, { headers: { ...other, 'Svc-Retry-Delay': '3600000' } }),
    );
    const open = messageIdOf(
      await publish(accepting.url, { headers: { ...other, 'Svc-Deferred': '1h', 'Svc-Retries': '0' } }),
    );
    const ofThese = { label: 'few' };
    await becomes(whole({ delayed: 2, retrying: 1, open: 1 }), ofThese);
    const [first = '', second = ''] = delayed;
    await ok(api('DELETE', `/v2/messages/${first}`));
    await expectRefusal(api('DELETE', `/v2/messages/${first}`), 404, /waits for its delivery/);
    await becomes(whole({ delayed: 1, retrying: 1, open: 1 }), ofThese);
    for (let times = 0; times < 2; times += 1)
      await ok(api('POST', `/v2/messages/${open}/complete`, { body: { status: 500 } }));
    await deadLettered(ofThese, 1);
    await becomes(whole({ delayed: 1, retrying: 1 }), ofThese);
    const { url } = receiver.inbox();
    const delivered = messageIdOf(await publish(url, { headers: other }));
    await eventually(
      () => getInAnyState(delivered),
      ({ state }) => state === 'DELIVERED',
    );
    await becomes(whole({ delayed: 1, retrying: 1 }), ofThese);
    await ok(api('DELETE', `/v2/messages${query({ messageIds: [second, retried] })}`));
    await becomes(whole({}), ofThese);
    for (let times = 0; times < 3; times += 1) expect(await countWith(ofThese)).toEqual(whole({}));
    expect(await countWith()).toEqual(whole(all));
  });

  it('includes both ends of a period', async () => {
    const text = { label: 'one' };
    const messageId = await publishDelayed('https://example.com/', { 'Svc-Label': text.label });
    const at = Number((await getInAnyState(messageId))['createdAt']);
    const one = whole({ delayed: 1 });
    for (const [period, expected] of [
      [{ fromDate: at }, one],
      [{ toDate: at }, one],
      [{ fromDate: at, toDate: at }, one],
      [{ fromDate: at + 1 }, whole({})],
      [{ toDate: at - 1 }, whole({})],
      [{ fromDate: 0, toDate: 999_999_999_999_999 }, one],
    ] as const) {
      expect([period, await countWith({ ...text, ...period })]).toEqual([period, expected]);
    }
    await ok(api('DELETE', `/v2/messages/${messageId}`));
  });

  it('is 0 after all were cancelled', async () => {
    let cursor: string | undefined;
    do {
      const page = await ok(api('DELETE', `/v2/messages${query({ cursor })}`));
      ({ cursor } = z.object({ cursor: z.optional(z.string()) }).parse(page));
    } while (cursor !== undefined);
    await becomes(whole({}));
    await becomes(whole({}), { queueName });
  });

  it('is divided by state only', async () => {
    await expectRefusal(
      api('GET', '/v2/messages/count?by=label'),
      400,
      'by is "label"; allowed is state or failure.',
    );
  });
});

it.runIf(service.target === 'local')('a delayed message waits from the time at which it is due', async () => {
  const { url, token, advance } = await clockStage();
  const by = { url, token };
  await ok(api('POST', '/v2/queues', { ...by, body: { queueName, paused: true } }));
  const headers = { 'Svc-Delay': '10m' };
  for (let sent = 0; sent < 3; sent += 1)
    await ok(api('POST', `/v2/enqueue/${queueName}/https://example.com/`, { ...by, headers }));
  expect(await countWith({ queueName }, by)).toEqual(whole({ delayed: 3 }));
  await advance(599_000);
  expect(await countWith({ queueName }, by)).toEqual(whole({ delayed: 3 }));
  await advance(60_000);
  expect(await countWith({ queueName }, by)).toEqual(whole({ waiting: 3 }));
  await ok(api('DELETE', `/v2/messages${query({ queueName })}`, by));
  expect(await countWith({ queueName }, by)).toEqual(whole({}));
});
