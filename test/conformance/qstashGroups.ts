/* eslint-disable @typescript-eslint/no-deprecated -- Old versions have nothing else, and users call it. */
/** The operations of `@upstash/qstash` on stored things: URL groups, queues, flow control and schedules. */
import * as qstash from '@upstash/qstash';
import { deepEqual, equal, ok, rejects } from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { NotOffered, receiver, token, url, type Operations } from './harness.ts';

const client = new qstash.Client({ baseUrl: url, token });
const somewhere = 'https://example.com/hook';
const unique = (name: string): string => `${name}-${randomUUID().slice(0, 8)}`;

/** Creates, reads, changes and deletes a URL group, under the client's newer or older name. */
const manageGroup = (word: 'urlGroups' | 'topics') => async (): Promise<void> => {
  const name = unique('group');
  const second = 'https://example.com/second';
  await client[word].addEndpoints({ name, endpoints: [{ url: somewhere }, { url: second }] });
  equal((await client[word].get(name)).endpoints.length, 2);
  ok((await client[word].list()).some((group) => group.name === name));
  await client[word].removeEndpoints({ name, endpoints: [{ url: second }] });
  deepEqual((await client[word].get(name)).endpoints, [{ url: somewhere }]);
  await client[word].delete(name);
  await rejects(client[word].get(name));
};

/** Publishes to a group under this name. */
const publishToGroup = (word: 'urlGroup' | 'topic') => async (): Promise<void> => {
  const [name, inbox] = [unique('group'), receiver.inbox()];
  await fetch(`${url}/v2/topics/${name}/endpoints`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}` },
    body: JSON.stringify({ endpoints: [{ url: inbox.url }] }),
  });
  await (word === 'topic'
    ? client.publish({ topic: name, body: 'to all' })
    : client.publish({ urlGroup: name, body: 'to all' }));
  equal((await inbox.received(1))[0]?.headers['upstash-topic-name'], name);
};

const schedule = { destination: somewhere, cron: '0 0 29 2 *', body: '{"a":1}', retries: 2 };

export const groupOperations: Operations = {
  'publish({ urlGroup })': publishToGroup('urlGroup'),
  'publish({ topic })': publishToGroup('topic'),
  'urlGroups.addEndpoints, get, list, removeEndpoints, delete': manageGroup('urlGroups'),
  'topics.addEndpoints, get, list, removeEndpoints, delete': manageGroup('topics'),
  'queue.upsert, get, list, delete': async () => {
    const queueName = unique('queue');
    const queue = client.queue({ queueName });
    await queue.upsert({ parallelism: 2 });
    equal((await queue.get()).parallelism, 2);
    ok((await queue.list()).some(({ name }) => name === queueName));
    await queue.delete();
    await rejects(queue.get());
  },
  'queue.enqueue, enqueueJSON': async () => {
    const [queueName, inbox] = [unique('queue'), receiver.inbox()];
    const queue = client.queue({ queueName });
    await queue.enqueue({ url: inbox.url, body: 'one' });
    await queue.enqueueJSON({ url: inbox.url, body: { n: 2 } });
    const deliveries = await inbox.received(2);
    deepEqual(
      deliveries.map(({ body, headers }) => [body.toString(), headers['upstash-queue-name']]),
      [
        ['one', queueName],
        ['{"n":2}', queueName],
      ],
    );
    await queue.delete();
  },
  'queue.pause, resume': async () => {
    const queue = client.queue({ queueName: unique('queue') });
    await queue.upsert({ parallelism: 1 });
    await queue.pause();
    equal((await queue.get()).paused, true);
    await queue.resume();
    equal((await queue.get()).paused, false);
    await queue.delete();
  },
  'flowControl.get, pause, resume': async () => {
    // Older versions only have the option with this name.
    if (!('flowControl' in client)) return new NotOffered('flowControl');
    const [key, inbox] = [unique('key'), receiver.inbox()];
    await client.publish({ url: inbox.url, flowControl: { key, parallelism: 3 } });
    await inbox.received(1);
    await client.flowControl.pause(key);
    equal((await client.flowControl.get(key)).isPaused, true);
    await client.flowControl.resume(key);
    equal((await client.flowControl.get(key)).isPaused, false);
    return undefined;
  },
  'flowControl.pin, unpin, resetRate, getGlobalParallelism': async () => {
    const [key, inbox] = [unique('key'), receiver.inbox()];
    await client.publish({ url: inbox.url, flowControl: { key, rate: 10, period: '1m' } });
    await inbox.received(1);
    await client.flowControl.pin(key, { parallelism: 5 });
    equal((await client.flowControl.get(key)).parallelismMax, 5);
    await client.flowControl.unpin(key, { parallelism: true });
    await client.flowControl.resetRate(key);
    equal((await client.flowControl.get(key)).rateCount, 0);
    ok((await client.flowControl.getGlobalParallelism()).parallelismMax > 0);
  },
  'schedules.create, get, list, delete': async () => {
    const { scheduleId } = await client.schedules.create(schedule);
    const { destination, cron, body, retries } = await client.schedules.get(scheduleId);
    deepEqual({ destination, cron, body, retries }, schedule);
    ok((await client.schedules.list()).some((one) => one.scheduleId === scheduleId));
    await client.schedules.delete(scheduleId);
    await rejects(client.schedules.get(scheduleId));
  },
  'schedules.create({ scheduleId, queueName })': async () => {
    const scheduleId = unique('schedule');
    equal(
      (await client.schedules.create({ ...schedule, scheduleId, queueName: 'reports' })).scheduleId,
      scheduleId,
    );
    equal((await client.schedules.get(scheduleId)).queueName, 'reports');
    await client.schedules.delete(scheduleId);
  },
  'schedules.pause, resume': async () => {
    const { scheduleId } = await client.schedules.create(schedule);
    await client.schedules.pause({ schedule: scheduleId });
    equal((await client.schedules.get(scheduleId)).isPaused, true);
    await client.schedules.resume({ schedule: scheduleId });
    equal((await client.schedules.get(scheduleId)).isPaused, false);
    await client.schedules.delete(scheduleId);
  },
};
