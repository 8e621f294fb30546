import { describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { api, getMessage, isWaiting, logged, ok, unique } from '../support/api.ts';
import { eventually } from '../support/eventually.ts';
import { bodiesOf, heldInbox } from '../support/heldInbox.ts';
import { errorOf, messageIdOf, publish } from '../support/publish.ts';
import { useReceiver } from '../support/useReceiver.ts';

const receiver = useReceiver();

const queueShape = z.object({ parallelism: z.number(), paused: z.boolean(), lag: z.number() });
const shown = async (name: string) => queueShape.parse(await ok(api('GET', `/v2/queues/${name}`)));
const turn = (name: string, action: 'pause' | 'resume') => ok(api('POST', `/v2/queues/${name}/${action}`));
const lagBecomes = (name: string, lag: number) =>
  eventually(
    () => shown(name),
    (queue) => queue.lag === lag,
  );

const enqueue = async (
  name: string,
  destination: string,
  body: string,
  headers: Record<string, string> = {},
): Promise<string> => messageIdOf(await api('POST', `/v2/enqueue/${name}/${destination}`, { body, headers }));

/** Waits for a message without a queue, which is after any that could start. */
async function probe(): Promise<void> {
  const inbox = receiver.inbox();
  messageIdOf(await publish(inbox.url));
  await inbox.received(1);
}

const texts = (...bodies: readonly string[]): readonly string[] => bodies.map((body) => `"${body}"`);

describe('a paused queue', () => {
  it('holds its messages, shows how many, and starts them in order when it is resumed', async () => {
    const inbox = receiver.inbox();
    const name = unique('paused');
    await ok(api('POST', '/v2/queues', { body: { queueName: name, paused: true } }));
    const ids: string[] = [];
    for (const body of ['one', 'two', 'three']) ids.push(await enqueue(name, inbox.url, body));
    expect(await shown(name)).toEqual({ parallelism: 1, paused: true, lag: 3 });
    for (const id of ids) expect(await getMessage(id)).toMatchObject({ queueName: name, retried: 0 });
    await probe();
    expect(inbox.deliveries).toHaveLength(0);
    await turn(name, 'resume');
    await inbox.received(3);
    expect(bodiesOf(inbox)).toEqual(texts('one', 'two', 'three'));
    expect(await lagBecomes(name, 0)).toMatchObject({ paused: false });
  });

  it('lets a started message finish, and starts no other', async () => {
    const inbox = heldInbox(receiver);
    const name = unique('paused');
    const first = await enqueue(name, inbox.url, 'first');
    await inbox.received(1);
    const second = await enqueue(name, inbox.url, 'second');
    await turn(name, 'pause');
    expect(await shown(name)).toMatchObject({ paused: true, lag: 2 });
    inbox.letGo();
    await logged({ messageId: first, state: 'DELIVERED' }, 1);
    await lagBecomes(name, 1);
    await probe();
    expect(bodiesOf(inbox)).toEqual(texts('first'));
    expect(await isWaiting(second)).toBe(true);
    await turn(name, 'resume');
    await inbox.received(2);
  });

  it('may be paused and resumed repeatedly, and follows the last request', async () => {
    const inbox = receiver.inbox();
    const name = unique('paused');
    await enqueue(name, inbox.url, 'made');
    await inbox.received(1);
    for (const action of ['pause', 'pause', 'resume', 'resume', 'pause', 'resume'] as const) {
      await turn(name, action);
      expect((await shown(name)).paused).toBe(action === 'pause');
    }
    await enqueue(name, inbox.url, 'after');
    await inbox.received(2);
  });

  it('removes cancelled messages from its lag', async () => {
    const name = unique('paused');
    await ok(api('POST', '/v2/queues', { body: { queueName: name, paused: true } }));
    const id = await enqueue(name, receiver.origin, 'cancelled');
    await enqueue(name, receiver.origin, 'kept');
    await ok(api('DELETE', `/v2/messages/${id}`));
    await lagBecomes(name, 1);
    expect(await isWaiting(id)).toBe(false);
    await ok(api('DELETE', `/v2/queues/${name}`));
  });
});

describe('a deleted queue', () => {
  it('cancels its waiting messages visibly, and lets a started one finish', async () => {
    const inbox = heldInbox(receiver);
    const name = unique('deleted');
    const first = await enqueue(name, inbox.url, 'first');
    await inbox.received(1);
    // More than one page of its line.
    const waiting: string[] = [];
    for (let number = 0; number < 20; number += 1)
      waiting.push(await enqueue(name, inbox.url, String(number)));
    expect((await shown(name)).lag).toBe(21);
    await ok(api('DELETE', `/v2/queues/${name}`));
    expect((await api('GET', `/v2/queues/${name}`)).status).toBe(404);
    const cancelled = await logged({ queueName: name, state: 'CANCELED' }, 20);
    expect(new Set(cancelled.map(({ messageId }) => messageId))).toEqual(new Set(waiting));
    for (const id of waiting) expect(await isWaiting(id)).toBe(false);
    inbox.letGo();
    await logged({ messageId: first, state: 'DELIVERED' }, 1);
    await probe();
    expect(bodiesOf(inbox)).toEqual(texts('first'));
    expect(await logged({ queueName: name, state: 'CANCELED' }, 20)).toHaveLength(20);
  });

  it('cancels its delayed messages visibly, but none that are published later or belong to another queue', async () => {
    const [inbox, other] = [receiver.inbox(), receiver.inbox()];
    const [name, otherName] = [unique('deleted'), unique('kept')];
    const delayed = (queue: string, url: string, delay: string): Promise<string> =>
      enqueue(queue, url, delay, { 'Svc-Delay': delay });
    const lost = [await delayed(name, inbox.url, '1s'), await delayed(name, inbox.url, '2h')];
    await delayed(otherName, other.url, '1s');
    const dueAt = Date.now() + 1_000;
    await ok(api('DELETE', `/v2/queues/${name}`));
    for (const id of lost) {
      expect(await isWaiting(id)).toBe(false);
      await logged({ messageId: id, state: 'CANCELED' }, 1);
    }
    await delayed(name, inbox.url, '2s');
    await other.received(1);
    await inbox.received(1);
    expect(Date.now()).toBeGreaterThan(dueAt);
    expect(bodiesOf(inbox)).toEqual(texts('2s'));
  });

  it('while it is paused is created again, and not paused, by the next message', async () => {
    const inbox = receiver.inbox();
    const name = unique('deleted');
    await ok(api('POST', '/v2/queues', { body: { queueName: name, parallelism: 2, paused: true } }));
    const lost = await enqueue(name, inbox.url, 'lost');
    await ok(api('DELETE', `/v2/queues/${name}`));
    await enqueue(name, inbox.url, 'again');
    await inbox.received(1);
    await logged({ messageId: lost, state: 'CANCELED' }, 1);
    expect(bodiesOf(inbox)).toEqual(texts('again'));
    expect(await shown(name)).toMatchObject({ parallelism: 1, paused: false });
  });
});

describe('messages of one queue', () => {
  it('in a batch keep their order, independently of other messages', async () => {
    const inbox = receiver.inbox();
    const [name, other] = [unique('batch'), unique('batch')];
    const items = Array.from({ length: 30 }, (_, number) => ({
      destination: inbox.url,
      body: String(number),
      queue: [name, other, undefined][number % 3],
    }));
    await ok(api('POST', '/v2/batch', { body: items }));
    const deliveries = await inbox.received(30);
    for (const [rest, queue] of [name, other].entries()) {
      const own = deliveries.filter(({ headers }) => headers['svc-queue-name'] === queue);
      expect(own.map(({ body }) => Number(body.toString()))).toEqual(
        Array.from({ length: 10 }, (_, index) => 3 * index + rest),
      );
    }
  });

  it('are in flight up to its parallelism, as soon as it changes', async () => {
    const inbox = heldInbox(receiver);
    const name = unique('wide');
    for (const body of ['1', '2', '3', '4']) await enqueue(name, inbox.url, body);
    await inbox.received(1);
    await probe();
    expect(inbox.deliveries).toHaveLength(1);
    await ok(api('POST', '/v2/queues', { body: { queueName: name, parallelism: 3 } }));
    await inbox.received(3);
    await probe();
    expect(inbox.deliveries).toHaveLength(3);
    expect(await shown(name)).toMatchObject({ parallelism: 3, lag: 4 });
    inbox.letGo();
    await inbox.received(4);
    await lagBecomes(name, 0);
  });

  it('continue only after the one before has failed permanently, including its failure callback', async () => {
    const callbacks = heldInbox(receiver);
    const name = unique('failing');
    const inbox = receiver.inbox(({ body }, response) =>
      response.writeHead(body.toString() === '"bad"' ? 500 : 200).end(),
    );
    await enqueue(name, inbox.url, 'bad', {
      'Svc-Retries': '1',
      'Svc-Retry-Delay': '1000',
      'Svc-Failure-Callback': callbacks.url,
    });
    await enqueue(name, inbox.url, 'good');
    await callbacks.received(1);
    await probe();
    expect(bodiesOf(inbox)).toEqual(texts('bad', 'bad'));
    // The first message is over except for its callback.
    expect((await shown(name)).lag).toBe(1);
    callbacks.letGo();
    await inbox.received(3);
    expect(bodiesOf(inbox)).toEqual(texts('bad', 'bad', 'good'));
  });

  it('are refused for an invalid name', async () => {
    const answer = await api('POST', `/v2/schedules/${receiver.origin}`, {
      headers: { 'Svc-Cron': '0 0 29 2 *', 'Svc-Queue-Name': 'a b' },
    });
    expect([answer.status, errorOf(answer)]).toEqual([
      400,
      expect.stringMatching(/^Svc-Queue-Name is "a b"; allowed are/),
    ]);
    const items = [{ destination: receiver.origin, queue: 'a b' }];
    expect(await ok(api('POST', '/v2/batch', { body: items }))).toMatchObject([
      {
        status: 400,
        error: '[0].queue is "a b"; allowed are 1 to 128 letters, digits, ".", "_" and "-".',
      },
    ]);
  });
});
