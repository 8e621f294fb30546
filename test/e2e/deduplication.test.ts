import { describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { api, logged, ok, publishDelayed, unique } from '../support/api.ts';
import { makeGroup } from '../support/groups.ts';
import { heldInbox } from '../support/heldInbox.ts';
import { untilState } from '../support/listedMessages.ts';
import { messageIdOf, publish } from '../support/publish.ts';
import { useReceiver } from '../support/useReceiver.ts';

const receiver = useReceiver();

async function countOf(label: string, count: number): Promise<number> {
  await logged({ label, state: 'DELIVERED' }, count);
  return (await logged({ label, state: 'CREATED' }, count)).length;
}

describe('a message with another message’s deduplication id', () => {
  it('is answered with 202 and the first one’s id, and is not delivered', async () => {
    const inbox = receiver.inbox();
    const label = unique('label');
    const headers = { 'Svc-Deduplication-Id': unique('id'), 'Svc-Label': label };
    const first = messageIdOf(await publish(inbox.url, { body: 'first', headers }));
    const second = await publish(inbox.url, { body: 'another body', headers });
    expect([second.status, second.json]).toEqual([202, { messageId: first, deduplicated: true }]);
    const elsewhere = await publish(receiver.inbox().url, { headers });
    expect([elsewhere.status, elsewhere.json]).toEqual([202, { messageId: first, deduplicated: true }]);
    expect(await countOf(label, 1)).toBe(1);
    expect(inbox.deliveries.map(({ body }) => body.toString())).toEqual(['first']);
  });

  it('is a new message if the first was cancelled or has failed permanently, and then takes over the id', async () => {
    const headers = { 'Svc-Deduplication-Id': unique('id') };
    const cancelled = await publishDelayed(receiver.origin, headers);
    await ok(api('DELETE', `/v2/messages/${cancelled}`));
    const failing = receiver.inbox((_delivery, response) => response.writeHead(500).end());
    const failed = messageIdOf(await publish(failing.url, { headers: { ...headers, 'Svc-Retries': '0' } }));
    await untilState(failed, 'FAILED');
    const inbox = receiver.inbox();
    const third = messageIdOf(await publish(inbox.url, { headers }));
    expect(new Set([cancelled, failed, third]).size).toBe(3);
    await untilState(third, 'DELIVERED');
    const fourth = await publish(inbox.url, { headers });
    expect([fourth.status, fourth.json]).toEqual([202, { messageId: third, deduplicated: true }]);
  });

  it('is a duplicate of a message that was delivered during its cancellation', async () => {
    const inbox = heldInbox(receiver);
    const headers = { 'Svc-Deduplication-Id': unique('id') };
    const first = messageIdOf(await publish(inbox.url, { headers }));
    await inbox.received(1);
    await ok(api('DELETE', `/v2/messages/${first}`));
    inbox.letGo();
    await untilState(first, 'DELIVERED');
    const second = await publish(inbox.url, { headers });
    expect([second.status, second.json]).toEqual([202, { messageId: first, deduplicated: true }]);
  });

  it('to a group is one for each of its endpoints', async () => {
    const inboxes = [receiver.inbox(), receiver.inbox()];
    const name = await makeGroup(inboxes.map(({ url }) => ({ url })));
    const headers = { 'Svc-Deduplication-Id': unique('id') };
    const first = await publish(name, { headers });
    expect(first.status).toBe(200);
    const second = await publish(name, { headers });
    const messages = z.array(z.object({ messageId: z.string(), url: z.string() })).parse(first.json);
    expect([second.status, second.json]).toEqual([
      202,
      messages.map((message) => ({ ...message, deduplicated: true })),
    ]);
    for (const inbox of inboxes) await inbox.received(1);
  });
});

describe('a message with content-based deduplication', () => {
  const on = { 'Svc-Content-Based-Deduplication': 'true', 'Content-Type': 'text/plain' };

  it('is a duplicate if destination, body, content type and forwarded headers are the same', async () => {
    const inbox = receiver.inbox();
    const body = unique('body');
    const headers = { ...on, 'Svc-Forward-X-A': 'a', 'Svc-Forward-X-B': 'b' };
    const first = messageIdOf(await publish(inbox.url, { body, headers }));
    const reordered = { ...on, 'Svc-Forward-X-B': 'b', 'Svc-Forward-X-A': 'a', 'Svc-Retries': '1' };
    const second = await publish(inbox.url, { body, headers: reordered });
    expect([second.status, second.json]).toEqual([202, { messageId: first, deduplicated: true }]);
    const others = [
      await publish(`${inbox.url}/other`, { body, headers }),
      await publish(inbox.url, { body: `${body}x`, headers }),
      await publish(inbox.url, { body, headers: { ...headers, 'Content-Type': 'text/html' } }),
      await publish(inbox.url, { body, headers: { ...headers, 'Svc-Forward-X-A': 'c' } }),
    ];
    expect(others.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    await inbox.received(5);
  });
});
