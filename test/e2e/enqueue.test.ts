import { describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { api, getMessage, logged, ok, unique } from '../support/api.ts';
import { makeGroup } from '../support/groups.ts';
import { errorOf, messageIdOf } from '../support/publish.ts';
import { useReceiver } from '../support/useReceiver.ts';

const receiver = useReceiver();

const enqueue = (queueName: string, destination: string, init: Parameters<typeof api>[2] = {}) =>
  api('POST', `/v2/enqueue/${queueName}/${destination}`, init);

describe('an enqueued message', () => {
  it('is delivered to its URL, byte for byte, with the name of its queue', async () => {
    const inbox = receiver.inbox();
    const queueName = unique('queue.A_');
    const messageId = messageIdOf(
      await enqueue(queueName, `${inbox.url}/a%2Fb//c?q=1&r=%20`, { body: { n: 1 } }),
    );
    const [delivery] = await inbox.received(1);
    expect(delivery?.target).toMatch(/^\/[a-z0-9]+\/a%2Fb\/\/c\?q=1&r=%20$/);
    expect(delivery?.body.toString()).toBe('{"n":1}');
    expect(delivery?.headers).toMatchObject({ 'svc-queue-name': queueName, 'svc-message-id': messageId });
    for (const entry of await logged({ messageId }, 3)) expect(entry).toMatchObject({ queueName });
  });

  it('is delivered to every endpoint of a group', async () => {
    const inboxes = [receiver.inbox(), receiver.inbox()];
    const name = await makeGroup(inboxes.map(({ url }) => ({ url })));
    const queueName = unique('queue');
    const answer = z
      .array(z.object({ messageId: z.string(), url: z.string() }))
      .parse(await ok(enqueue(queueName, name)));
    expect(answer.map(({ url }) => url)).toEqual(inboxes.map(({ url }) => url));
    for (const inbox of inboxes) {
      const [delivery] = await inbox.received(1);
      expect(delivery?.headers).toMatchObject({ 'svc-queue-name': queueName, 'svc-topic-name': name });
    }
  });

  it('is shown with its queue while it waits', async () => {
    const queueName = unique('queue');
    const messageId = messageIdOf(
      await enqueue(queueName, receiver.origin, { headers: { 'Svc-Delay': '10m' } }),
    );
    expect(await getMessage(messageId)).toMatchObject({ queueName });
    await ok(api('DELETE', `/v2/messages/${messageId}`));
  });

  it.each<[path: string, status: number, says: RegExp]>([
    ['not$a$name/https://example.com', 400, /^The name of the queue is "not\$a\$name"; allowed are/],
    [`${'x'.repeat(129)}/https://example.com`, 400, /^The name of the queue is/],
    ['queue/unknown-group', 404, /^There is no URL group "unknown-group"\.$/],
    ['queue/ftp://example.com', 400, /^The destination is "ftp:/],
  ])('is refused for the path %s', async (path, status, says) => {
    const answer = await api('POST', `/v2/enqueue/${path}`);
    expect([answer.status, errorOf(answer)]).toEqual([status, expect.stringMatching(says)]);
  });
});
