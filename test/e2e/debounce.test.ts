import { describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { api, ok, unique } from '../support/api.ts';
import { makeGroup } from '../support/groups.ts';
import { untilState } from '../support/listedMessages.ts';
import { errorOf, messageIdOf, publish } from '../support/publish.ts';
import { useReceiver } from '../support/useReceiver.ts';

const receiver = useReceiver();
const debounced = z.object({ messageId: z.string(), debounced: z.literal(true) });

describe('debounced messages', () => {
  it('are delivered once, with the newest body', async () => {
    const inbox = receiver.inbox();
    const headers = { 'Svc-Debounce': '3s', 'Svc-Debounce-Id': unique('cart') };
    const ids = [];
    for (const body of ['one', 'two', 'three']) {
      const { status, json } = await publish(inbox.url, { headers, body });
      expect(status).toBe(200);
      ids.push(debounced.parse(json).messageId);
    }
    expect(new Set(ids).size).toBe(1);
    const [delivery] = await inbox.received(1);
    expect(delivery?.body.toString()).toBe('three');
    await untilState(ids[0] ?? '', 'DELIVERED');
    expect(inbox.deliveries).toHaveLength(1);
  });

  it('may be items of a batch, together with others, and go to each endpoint of a group', async () => {
    const [one, two] = [receiver.inbox(), receiver.inbox()];
    const group = await makeGroup([{ url: one.url }, { url: two.url }]);
    const headers = { 'Svc-Debounce': '2s', 'Svc-Debounce-Id': unique('cart') };
    const plain = receiver.inbox();
    const items = [
      { destination: group, headers, body: 'first' },
      { destination: plain.url, body: 'plain' },
      { destination: group, headers, body: 'second' },
    ];
    const [first, , second] = z.array(z.unknown()).parse(await ok(api('POST', '/v2/batch', { body: items })));
    expect(first).toEqual(second);
    expect(z.array(debounced).parse(first)).toHaveLength(2);
    for (const [inbox, body] of [
      [one, 'second'],
      [two, 'second'],
      [plain, 'plain'],
    ] as const) {
      const [delivery] = await inbox.received(1);
      expect(delivery?.body.toString()).toBe(body);
    }
  });

  it('cannot be changed in another way, but can be cancelled', async () => {
    const headers = { 'Svc-Debounce': '10m', 'Svc-Debounce-Id': unique('cart') };
    const messageId = messageIdOf(await publish('https://example.com', { headers }));
    const changed = await api('PATCH', `/v2/messages/${messageId}`, { body: { delay: '1m' } });
    expect([changed.status, errorOf(changed)]).toEqual([409, expect.stringContaining('is debounced')]);
    await ok(api('DELETE', `/v2/messages/${messageId}`));
    const next = messageIdOf(await publish('https://example.com', { headers }));
    expect(next).not.toBe(messageId);
    await ok(api('DELETE', `/v2/messages/${next}`));
  });

  it.each([
    [{ 'Svc-Debounce': '30s' }, 'Svc-Debounce-Id is missing; Svc-Debounce asks for it.'],
    [{ 'Svc-Debounce-Id': 'a' }, 'Svc-Debounce is missing; allowed is a duration such as 30s.'],
    [{ 'Svc-Debounce': '16m', 'Svc-Debounce-Id': 'a' }, 'Svc-Debounce is "16m"; allowed is 1s to 15m.'],
    [
      { 'Svc-Debounce': '30s', 'Svc-Debounce-Id': 'a', 'Svc-Debounce-Max': '10s' },
      'Svc-Debounce-Max is shorter than Svc-Debounce; allowed is as long, or longer.',
    ],
    [
      { 'Svc-Debounce': '30s', 'Svc-Debounce-Id': 'a', 'Svc-Delay': '1m' },
      'Svc-Delay and Svc-Debounce are both given; allowed is one of them.',
    ],
    [
      { 'Svc-Debounce': '30s', 'Svc-Debounce-Id': 'a', 'Svc-Deduplication-Id': 'b' },
      'Svc-Deduplication-Id and Svc-Debounce are both given; allowed is one of them.',
    ],
  ])('are refused with %j', async (headers, error) => {
    const answer = await publish('https://example.com', { headers });
    expect([answer.status, errorOf(answer)]).toEqual([400, error]);
  });

  it('are not supported by a schedule', async () => {
    const headers = { 'Svc-Cron': '0 0 1 1 *', 'Svc-Debounce': '30s', 'Svc-Debounce-Id': 'a' };
    const answer = await api('POST', '/v2/schedules/https://example.com', { headers });
    expect([answer.status, errorOf(answer)]).toEqual([
      400,
      'Svc-Debounce is given; allowed is to publish with it, not to schedule.',
    ]);
  });
});
