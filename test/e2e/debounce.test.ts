import { describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { api, ok, unique } from '../support/api.ts';
import { untilState } from '../support/listedMessages.ts';
import { messageIdOf, publish } from '../support/publish.ts';
import { useReceiver } from '../support/useReceiver.ts';
import { expectRefusal } from '../support/refusals.ts';

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

  it('cannot be changed in another way, but can be cancelled', async () => {
    const headers = { 'Svc-Debounce': '10m', 'Svc-Debounce-Id': unique('cart') };
    const messageId = messageIdOf(await publish('https://example.com', { headers }));
    await expectRefusal(
      api('PATCH', `/v2/messages/${messageId}`, { body: { delay: '1m' } }),
      409,
      'is debounced',
    );
    await ok(api('DELETE', `/v2/messages/${messageId}`));
    const next = messageIdOf(await publish('https://example.com', { headers }));
    expect(next).not.toBe(messageId);
    await ok(api('DELETE', `/v2/messages/${next}`));
  });

  it.each([
    [{ 'Svc-Debounce': '30s' }, 'Svc-Debounce-Id is missing; Svc-Debounce asks for it.'],
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
    await expectRefusal(publish('https://example.com', { headers }), 400, error);
  });

  it('are not supported by a schedule', async () => {
    const headers = { 'Svc-Cron': '0 0 1 1 *', 'Svc-Debounce': '30s', 'Svc-Debounce-Id': 'a' };
    await expectRefusal(
      api('POST', '/v2/schedules/https://example.com', { headers }),
      400,
      'Svc-Debounce is given; allowed is to publish with it, not to schedule.',
    );
  });
});
