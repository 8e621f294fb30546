import { describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { api, isWaiting, logged, ok, unique } from '../support/api.ts';
import { clockStage } from '../support/clockStage.ts';
import { eventually } from '../support/eventually.ts';
import { bodiesOf, heldInbox } from '../support/heldInbox.ts';
import { messageIdOf, publish, service } from '../support/publish.ts';
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

  it.runIf(service.target === 'local')(
    'cancels its delayed messages visibly, but none that are published later or belong to another queue',
    async () => {
      const stage = await clockStage();
      const { url, token } = stage;
      const [inbox, other] = [receiver.inbox(), receiver.inbox()];
      const delayed = async (queue: string, to: string, delay: string): Promise<string> =>
        messageIdOf(
          await api('POST', `/v2/enqueue/${queue}/${to}`, {
            ...{ url, token },
            headers: { 'Svc-Delay': delay },
            body: delay,
          }),
        );
      const lost = [await delayed('deleted', inbox.url, '3s'), await delayed('deleted', inbox.url, '2h')];
      await delayed('kept', other.url, '3s');
      await ok(api('DELETE', '/v2/queues/deleted', { url, token }));
      for (const id of lost)
        expect(await ok(api('GET', `/v2/messages/${id}?state=ALL`, { url, token }))).toMatchObject({
          state: 'CANCELED',
        });
      await delayed('deleted', inbox.url, '5s');
      await stage.advance(3 * 3_600_000);
      await other.received(1);
      await inbox.received(1);
      expect(bodiesOf(inbox)).toEqual(texts('5s'));
    },
  );

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
});
