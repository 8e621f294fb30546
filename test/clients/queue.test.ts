/* eslint-disable @typescript-eslint/no-deprecated -- The client still has them, and its users call them. */
import { Client, type PublishRequest } from '@upstash/qstash';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { deadLettered, logged, unique } from '../support/api.ts';
import { eventually } from '../support/eventually.ts';
import { groupName } from '../support/groups.ts';
import { bodiesOf } from '../support/heldInbox.ts';
import { makeAccount } from '../support/accounts.ts';
import { service } from '../support/publish.ts';
import { startReceiver, type Receiver } from '../support/receiver.ts';

/** Tests the unchanged published client with everything around a message. */

let receiver: Receiver;
let client: Client;
beforeAll(async () => {
  receiver = await startReceiver();
  client = new Client({ baseUrl: service.url, token: service.token });
});
afterAll(() => receiver.close());

const failing = (times = Infinity) =>
  receiver.inbox((_delivery, response, before) => response.writeHead(before < times ? 500 : 200).end('no'));

describe('client.publish', () => {
  it('labels, deduplicates and redacts', async () => {
    const inbox = receiver.inbox();
    const label = [unique('label'), unique('label')];
    const request = {
      url: inbox.url,
      body: { secret: 1 },
      label,
      deduplicationId: unique('id'),
      delay: '10m' as const,
      redact: { body: true as const, header: ['X-Secret'] as string[] },
      headers: { 'X-Secret': 'secret', 'X-Other': 'other' },
    } satisfies PublishRequest<unknown>;
    const first = await client.publishJSON(request);
    const second = await client.publishJSON(request);
    expect(second).toMatchObject({ messageId: first.messageId, deduplicated: true });
    const message = await client.messages.get(first.messageId);
    expect(message).toMatchObject({ label: label[0], labels: label });
    expect(message.body).toMatch(/^REDACTED:[0-9a-f]{64}$/);
    expect(message.header?.['X-Secret']?.[0]).toMatch(/^REDACTED:[0-9a-f]{64}$/);
    expect(message.header?.['X-Other']).toEqual(['other']);
    await client.messages.cancel(first.messageId);
  });

  it('says what holds it back', async () => {
    const key = unique('flow');
    const { messageId } = await client.publish({
      url: receiver.origin,
      delay: '10m',
      flowControl: { key, parallelism: 3, rate: 10, period: '1m' },
    });
    expect(await client.messages.get(messageId)).toMatchObject({
      flowControlKey: key,
      parallelism: 3,
      rate: 10,
      ratePerSecond: 10,
      period: 60,
    });
    expect(await client.messages.cancel({ filter: { flowControlKey: key } })).toMatchObject({ cancelled: 1 });
  });
});

describe('client.queue, with messages', () => {
  it('is paused and resumed, and its messages are delivered in order', async () => {
    const inbox = receiver.inbox();
    const name = unique('queue');
    const queue = client.queue({ queueName: name });
    await expect(queue.pause()).rejects.toThrow(/There is no queue/);
    await queue.upsert({ parallelism: 1, paused: true });
    expect(await queue.get()).toMatchObject({ paused: true, lag: 0 });
    for (const body of ['1', '2', '3']) await queue.enqueue({ url: inbox.url, body });
    expect(await queue.get()).toMatchObject({ paused: true, lag: 3 });
    await queue.resume();
    await inbox.received(3);
    expect(bodiesOf(inbox)).toEqual(['1', '2', '3']);
    await queue.pause();
    expect(await queue.get()).toMatchObject({ paused: true });
    await queue.upsert({ parallelism: 1 });
    expect(await queue.get()).toMatchObject({ paused: false });
    await queue.delete();
    await expect(queue.resume()).rejects.toThrow(/There is no queue/);
  });
});

describe('client.flowControl', () => {
  it('shows a key, pauses, resumes, pins, unpins and resets it', async () => {
    const inbox = receiver.inbox();
    const key = unique('flow');
    await expect(client.flowControl.get(key)).rejects.toThrow(/There is no flow-control key/);
    const publish = (body: string) =>
      client.publish({
        url: inbox.url,
        body,
        flowControl: { key, parallelism: 3, rate: 10, period: '1m' },
      });
    await publish('first');
    await inbox.received(1);
    const shown = await client.flowControl.get(key);
    expect(shown).toMatchObject({
      flowControlKey: key,
      waitListSize: 0,
      parallelismMax: 3,
      rateMax: 10,
      ratePeriod: 60,
      isPaused: false,
      isPinnedParallelism: false,
      isPinnedRate: false,
    });
    expect(shown.rateCount).toBeGreaterThanOrEqual(1);
    expect(shown.ratePeriodStart).toBeGreaterThan(0);

    await client.flowControl.pause(key);
    await publish('second');
    const waits = await eventually(
      () => client.flowControl.get(key),
      ({ waitListSize }) => waitListSize === 1,
    );
    expect(waits.isPaused).toBe(true);
    expect(inbox.deliveries).toHaveLength(1);
    await client.flowControl.resume(key);
    await inbox.received(2);

    await client.flowControl.pin(key, { parallelism: 5 });
    await client.flowControl.pin(key, { rate: 20, period: 120 });
    await publish('third');
    await inbox.received(3);
    expect(await client.flowControl.get(key)).toMatchObject({
      ...{ parallelismMax: 5, isPinnedParallelism: true },
      ...{ rateMax: 20, ratePeriod: 120, isPinnedRate: true },
    });
    await client.flowControl.unpin(key, { parallelism: true });
    expect(await client.flowControl.get(key)).toMatchObject({
      isPinnedParallelism: false,
      isPinnedRate: true,
    });
    await client.flowControl.unpin(key, { rate: true });
    await client.flowControl.resetRate(key);
    expect(await client.flowControl.get(key)).toMatchObject({ rateCount: 0, isPinnedRate: false });
    await publish('fourth');
    await inbox.received(4);
    expect(await client.flowControl.get(key)).toMatchObject({
      parallelismMax: 3,
      rateMax: 10,
      ratePeriod: 60,
    });
    await expect(client.flowControl.pin(key, {})).rejects.toThrow(/parallelism and rate are missing/);
    await expect(client.flowControl.pin(key, { parallelism: 101 })).rejects.toThrow(/max_parallelism is 100/);
  });
});

describe('client.batch', () => {
  it('publishes to URLs, groups and queues', async () => {
    const inbox = receiver.inbox();
    const name = groupName();
    await client.urlGroups.addEndpoints({ name, endpoints: [{ url: inbox.url }] });
    const queueName = unique('queue');
    const answers = await client.batchJSON([
      { url: inbox.url, body: { n: 0 }, label: 'batched', retries: 0 },
      { urlGroup: name, body: { n: 1 } },
      { url: inbox.url, body: { n: 2 }, queueName },
    ]);
    const ids = answers.flat().map(({ messageId }) => messageId);
    const deliveries = await inbox.received(3);
    const bodies = ids.map((id) =>
      deliveries.find(({ headers }) => headers['upstash-message-id'] === id)?.body.toString(),
    );
    expect(bodies).toEqual(['{"n":0}', '{"n":1}', '{"n":2}']);
    expect(Array.isArray(answers[1])).toBe(true);

    const texts = receiver.inbox();
    await client.batch([
      { url: texts.url, body: 'one', headers: { 'X-Tenant': 'acme' }, method: 'PUT' },
      { url: texts.url, body: 'two', callback: texts.url },
    ]);
    const received = await texts.received(3);
    expect(received.find(({ method }) => method === 'PUT')?.headers['x-tenant']).toBe('acme');
  });
});

describe('client.messages', () => {
  const delayed = async (label?: string): Promise<string> =>
    (await client.publish({ url: receiver.origin, delay: '10m', ...(label === undefined ? {} : { label }) }))
      .messageId;

  it('are shown and cancelled by id, ids and filters', async () => {
    const messageId = await delayed();
    expect(await client.messages.get(messageId)).toMatchObject({
      messageId,
      url: receiver.origin,
      method: 'POST',
      maxRetries: 5,
    });
    expect(await client.messages.cancel(messageId)).toEqual({ cancelled: 1 });
    await expect(client.messages.get(messageId)).rejects.toThrow(/There is no message/);
    await expect(client.messages.cancel(messageId)).rejects.toThrow(/There is no message/);

    const ids = [await delayed(), await delayed()];
    expect(await client.messages.cancel(ids)).toEqual({ cancelled: 2 });
    expect(await client.messages.cancel({ messageIds: [await delayed(), 'msg_x'] })).toEqual({
      cancelled: 1,
    });
    expect(await client.messages.cancel([])).toEqual({ cancelled: 0 });

    const label = unique('label');
    await Promise.all(Array.from({ length: 3 }, () => delayed(label)));
    await logged({ label, state: 'CREATED' }, 3);
    const filter = {
      label: [label, 'other'],
      fromDate: new Date(Date.now() - 600_000),
      url: receiver.origin,
    };
    expect(await client.messages.cancel({ filter })).toMatchObject({ cancelled: 3 });
  });
});

describe('client.logs', () => {
  it('are filtered and paged', async () => {
    const inbox = receiver.inbox();
    const label = unique('label');
    const ids: string[] = [];
    for (let number = 0; number < 3; number += 1) {
      ids.push((await client.publish({ url: inbox.url, label })).messageId);
    }
    await logged({ label }, 9);
    const pages: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await client.logs({
        filter: { label },
        count: 4,
        ...(cursor === undefined ? {} : { cursor }),
      });
      expect(page.events).toEqual(page.logs);
      pages.push(...page.logs.map(({ messageId, state }) => `${messageId} ${state}`));
      cursor = page.cursor;
    } while (cursor !== undefined);
    expect(new Set(pages)).toEqual(
      new Set(ids.flatMap((id) => ['CREATED', 'ACTIVE', 'DELIVERED'].map((state) => `${id} ${state}`))),
    );
    expect((await client.logs({ filter: { label, state: 'DELIVERED' } })).logs).toHaveLength(3);
    expect((await client.logs({ filter: { label, state: 'IN_PROGRESS' } })).logs).toHaveLength(3);
    expect((await client.logs({ messageIds: ids.slice(1) })).logs).toHaveLength(6);
    const { logs } = await client.events({ filter: { label, urlGroup: 'none' } });
    expect(logs).toEqual([]);
  });
});

describe('client.dlq', () => {
  it('is listed, and single entries are retried and deleted', async () => {
    const label = unique('label');
    const inbox = failing(2);
    for (const body of ['one', 'two']) await client.publish({ url: inbox.url, body, retries: 0, label });
    await deadLettered({ label }, 2);
    const { messages } = await client.dlq.listMessages({ filter: { label, responseStatus: [500] } });
    const [second, first] = messages;
    expect(messages).toHaveLength(2);
    expect(second).toMatchObject({ url: inbox.url, responseStatus: 500, label });
    expect((await client.dlq.listMessages({ dlqIds: [first?.dlqId ?? ''] })).messages).toEqual([first]);

    const { responses } = await client.dlq.retry(first?.dlqId ?? '');
    const deliveries = await inbox.received(3);
    expect(deliveries[2]?.headers['upstash-message-id']).toBe(responses[0]?.messageId);
    expect(await client.dlq.delete(second?.dlqId ?? '')).toEqual({ deleted: 1 });
    expect((await client.dlq.listMessages({ filter: { label } })).messages).toEqual([]);
    await expect(client.dlq.delete(second?.dlqId ?? '')).rejects.toThrow(/There is no dead letter/);
  });

  it('is retried and deleted in bulk, by ids and by filters', async () => {
    const label = unique('label');
    const inbox = failing(6);
    await Promise.all(Array.from({ length: 6 }, () => client.publish({ url: inbox.url, retries: 0, label })));
    const dlqIds = (await deadLettered({ label }, 6)).map(({ dlqId }) => dlqId);
    expect((await client.dlq.retry(dlqIds.slice(0, 1))).responses).toHaveLength(1);
    expect((await client.dlq.retry({ dlqIds: dlqIds.slice(1, 2) })).responses).toHaveLength(1);
    expect((await client.dlq.retry({ filter: { label }, count: 1 })).responses).toHaveLength(1);
    expect(await client.dlq.delete(dlqIds.slice(3, 4))).toEqual({ deleted: 1 });
    expect(await client.dlq.deleteMany({ dlqIds: dlqIds.slice(4, 5) })).toEqual({ deleted: 1 });
    expect(await client.dlq.delete({ filter: { label } })).toEqual({ deleted: 1 });
    await inbox.received(9);
  });
});

describe('with a separate account, the client', () => {
  let own: Client;
  beforeAll(async () => {
    own = new Client({ baseUrl: service.url, token: (await makeAccount()).token });
  });

  const failMany = async (url: string, count: number): Promise<void> => {
    await own.batch(
      Array.from({ length: count }, (_, number) => ({ url, retries: 0, body: String(number) })),
    );
    await eventually(
      async () => (await own.dlq.listMessages({ count: 100 })).messages.length,
      (length) => length === count,
    );
  };

  it('retries all dead letters in a loop', async () => {
    const inbox = failing(25);
    await failMany(inbox.url, 25);
    const retried: string[] = [];
    let cursor: string | undefined;
    let rounds = 0;
    do {
      const result = await own.dlq.retry({
        all: true,
        count: 10,
        ...(cursor === undefined ? {} : { cursor }),
      });
      retried.push(...result.responses.map(({ messageId }) => messageId));
      cursor = result.cursor;
      rounds += 1;
    } while (cursor !== undefined);
    expect([rounds, new Set(retried).size]).toEqual([3, 25]);
    await inbox.received(50);
    expect((await own.dlq.listMessages()).messages).toEqual([]);
  });

  it('deletes all dead letters in a loop', async () => {
    await failMany(failing().url, 25);
    let deleted = 0;
    let cursor: string | undefined;
    do {
      const result = await own.dlq.delete({
        all: true,
        count: 10,
        ...(cursor === undefined ? {} : { cursor }),
      });
      deleted += result.deleted;
      cursor = result.cursor;
    } while (cursor !== undefined);
    expect(deleted).toBe(25);
    expect((await own.dlq.listMessages()).messages).toEqual([]);
  });

  it('cancels all messages with one call', async () => {
    await own.batch(Array.from({ length: 120 }, () => ({ url: receiver.origin, delay: '10m' as const })));
    expect(await own.messages.cancel({ all: true })).toEqual({ cancelled: 120 });
    expect(await own.messages.deleteAll()).toBe(0);
  });
});
