import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { api, deadLettered, logged, ok, unique } from '../support/api.ts';
import { call, errorOf, messageIdOf, service, type Answer } from '../support/publish.ts';
import type { Inbox } from '../support/receiver.ts';
import { useReceiver } from '../support/useReceiver.ts';

/**
 * Names that every JavaScript object has, such as `__proto__`, are accepted like any other name, or refused with a sentence if only
 * known names are allowed.
 */
const names = ['__proto__', 'constructor', 'toString', '__defineGetter__'];
const lower = names.map((name) => name.toLowerCase());

const receiver = useReceiver();

/** Returns header values as pairs, because only pairs show `__proto__` like other names. */
const pairsOf = (headers: unknown): readonly (readonly [string, unknown])[] =>
  Object.entries(headers ?? {}).map(([name, values]) => [name.toLowerCase(), values]);

const wanted = (value: (name: string) => unknown) => lower.map((name) => [name, value(name)]);
const prefixed = (prefix: string): [string, string][] =>
  names.map((name) => [`${prefix}${name}`, `is ${name}`]);
const original = (name: string): string => `is ${names[lower.indexOf(name)] ?? ''}`;

const inboxWithHeaders = (status: number): Inbox =>
  receiver.inbox((_delivery, response) => {
    response.statusCode = status;
    for (const name of names) response.appendHeader(name, `is ${name}`);
    response.end('answered');
  });

/** As pairs, because `fetch` keeps headers in an object and loses one. */
async function publishWith(
  destination: string,
  headers: readonly [string, string][],
  path = '/v2/publish/',
): Promise<Answer> {
  const outgoing = request(`${service.url}${path}${destination}`, { method: 'POST' });
  outgoing.setHeader('authorization', `Bearer ${service.token}`);
  outgoing.setHeader('content-type', 'text/plain');
  for (const [name, value] of headers) outgoing.appendHeader(name, value);
  outgoing.end('work');
  const [incoming] = (await once(outgoing, 'response')) as [IncomingMessage];
  const json: unknown = JSON.parse(await text(incoming));
  return { status: incoming.statusCode ?? 0, headers: new Headers(), json };
}

const objectOf = (pairs: readonly [string, unknown][]): object => Object.fromEntries(pairs);

describe('names that every object has', () => {
  it('are recorded as headers of a destination’s answer, after one attempt', async () => {
    const inbox = inboxWithHeaders(500);
    const callback = receiver.inbox();
    const label = unique('names');
    const headers: [string, string][] = [
      ['svc-retries', '0'],
      ['svc-label', label],
      ['svc-failure-callback', callback.url],
    ];
    messageIdOf(await publishWith(inbox.url, headers));
    const [entry] = await deadLettered({ label }, 1);
    expect(pairsOf(entry?.['responseHeader'])).toEqual(
      expect.arrayContaining(wanted((name) => [original(name)])),
    );
    const [failed] = await logged({ label, state: 'ERROR' }, 1);
    expect(pairsOf(failed?.['responseHeaders'])).toEqual(
      expect.arrayContaining(wanted((name) => [original(name)])),
    );
    const [told] = await callback.received(1);
    const { header } = JSON.parse(told?.body.toString() ?? '') as { header: unknown };
    expect(pairsOf(header)).toEqual(expect.arrayContaining(wanted((name) => [original(name)])));
    expect(inbox.deliveries).toHaveLength(1);
  });

  it.each([
    ['forwarded by name', prefixed('svc-forward-')],
    ['forwarded with all others', [['svc-header-forward', 'true'] as [string, string], ...prefixed('')]],
  ])('are delivered and shown as headers that are %s', async (_how, headers) => {
    const inbox = receiver.inbox((_delivery, response) => response.writeHead(500).end());
    const callback = receiver.inbox();
    const label = unique('names');
    const common: [string, string][] = [...headers, ['svc-label', label]];

    const waiting = messageIdOf(await publishWith(inbox.url, [...common, ['svc-delay', '10m']]));
    const { header } = (await ok(api('GET', `/v2/messages/${waiting}`))) as { header: unknown };
    expect(pairsOf(header)).toEqual(expect.arrayContaining(wanted((name) => [original(name)])));

    const more: [string, string][] = [
      ['svc-retries', '0'],
      ['svc-callback', callback.url],
    ];
    messageIdOf(await publishWith(inbox.url, [...common, ...more]));
    const [delivery] = await inbox.received(1);
    expect(delivery?.headerPairs).toEqual(expect.arrayContaining(wanted(original)));
    const [told] = await callback.received(1);
    const { sourceHeader } = JSON.parse(told?.body.toString() ?? '') as { sourceHeader: unknown };
    expect(pairsOf(sourceHeader)).toEqual(expect.arrayContaining(wanted(original)));
    const [entry] = await deadLettered({ label }, 1);
    expect(pairsOf(entry?.['header'])).toEqual(expect.arrayContaining(wanted((name) => [original(name)])));
    const [logEntry] = await logged({ label, state: 'FAILED' }, 1);
    expect(pairsOf(logEntry?.['header'])).toEqual(expect.arrayContaining(wanted((name) => [original(name)])));

    const id = unique('names');
    const cron: [string, string][] = [
      ['svc-cron', '0 0 1 1 *'],
      ['svc-schedule-id', id],
    ];
    await ok(publishWith(inbox.url, [...common, ...cron], '/v2/schedules/'));
    const schedule = (await ok(api('GET', `/v2/schedules/${id}`))) as { header: unknown };
    expect(pairsOf(schedule.header)).toEqual(expect.arrayContaining(wanted((name) => [original(name)])));
    await ok(api('GET', '/v2/schedules'));
    await ok(api('DELETE', `/v2/schedules/${id}`));
  });

  it('are ignored as fields of a message in a batch, and refused elsewhere by a sentence with the name', async () => {
    const inbox = receiver.inbox();
    for (const name of names) {
      const foreign = objectOf([[name, 1]]);
      const item = objectOf([
        ['destination', inbox.url],
        [name, 1],
      ]);
      expect(await ok(api('POST', '/v2/batch', { body: [item] }))).toMatchObject([
        { messageId: expect.any(String) as string },
      ]);
      const header = { destination: inbox.url, headers: objectOf([[name, { not: 'text' }]]) };
      expect(await ok(api('POST', '/v2/batch', { body: [header] }))).toMatchObject([
        { status: 400, error: expect.stringContaining(name) as string },
      ]);

      const { management } = service;
      const basic = Buffer.from(`${management.user}:${management.password}`).toString('base64');
      const account = await call(
        '/v2/svc/users',
        { method: 'POST', headers: { authorization: `Basic ${basic}` }, body: JSON.stringify(foreign) },
        management.url,
      );
      expect({ name, status: account.status, error: errorOf(account) }).toMatchObject({
        status: 400,
        error: expect.stringContaining(name) as string,
      });

      for (const [method, path] of [
        ['DELETE', '/v2/messages'],
        ['DELETE', '/v2/dlq'],
        ['POST', '/v2/queues'],
      ] as const) {
        const answer = await api(method, path, { body: objectOf([[name, ['x']]]) });
        expect({ name, path, status: answer.status }).toEqual({ name, path, status: 400 });
      }
    }
  });

  it('name labels, groups, endpoints, queues, schedules, keys and duplicates', async () => {
    const inbox = receiver.inbox();
    for (const name of names) {
      const endpoints = [{ url: inbox.url, name }];
      await ok(api('POST', `/v2/topics/${name}/endpoints`, { body: { endpoints } }));
      const group = await ok(api('GET', `/v2/topics/${name}`));
      expect(group).toMatchObject({ name, endpoints });
      const settings: [string, string][] = [
        ['svc-label', name],
        ['svc-flow-control-key', name],
        ['svc-flow-control-value', 'parallelism=3'],
        ['svc-deduplication-id', name],
      ];
      expect(await ok(publishWith(name, settings, `/v2/enqueue/${name}/`))).toHaveLength(1);
      const again = await publishWith(name, settings, `/v2/enqueue/${name}/`);
      expect({ name, status: again.status }).toEqual({ name, status: 202 });
      await ok(api('GET', `/v2/queues/${name}`));
      await ok(api('DELETE', `/v2/queues/${name}`));
      const cron: [string, string][] = [
        ['svc-cron', '0 0 1 1 *'],
        ['svc-schedule-id', name],
      ];
      expect(await ok(publishWith(name, cron, '/v2/schedules/'))).toEqual({ scheduleId: name });
      expect(await ok(api('GET', `/v2/schedules/${name}`))).toMatchObject({ scheduleId: name });
      await ok(api('DELETE', `/v2/schedules/${name}`));
      await ok(api('DELETE', `/v2/topics/${name}`));
      const [entry] = await logged({ label: name, state: 'CREATED' }, 1);
      expect(entry).toMatchObject({
        label: name,
        flowControlKey: name,
        queueName: name,
        topicName: name,
        endpointName: name,
      });
    }
    await inbox.received(names.length);
  });

  it('are not ids, tokens or accounts', async () => {
    const { management } = service;
    const basic = Buffer.from(`${management.user}:${management.password}`).toString('base64');
    for (const name of names) {
      for (const path of ['/v2/messages/', '/v2/dlq/', '/v2/schedules/', '/v2/topics/', '/v2/queues/']) {
        const { status } = await api('GET', `${path}${name}`);
        expect({ path, name, status }).toEqual({ path, name, status: 404 });
      }
      expect(await ok(api('DELETE', '/v2/messages', { body: { messageIds: [name] } }))).toEqual({
        cancelled: 0,
      });
      for (const parts of [
        { UserID: name, Password: name },
        objectOf([[name, { UserID: 'local', Password: 'x' }]]),
      ]) {
        const token = Buffer.from(JSON.stringify(parts)).toString('base64');
        expect((await api('GET', '/v2/keys', { token })).status).toBe(401);
      }
      const account = await call(
        `/v2/svc/users/${name}`,
        { headers: { authorization: `Basic ${basic}` } },
        management.url,
      );
      expect({ name, status: account.status }).toEqual({ name, status: 404 });
    }
  });
});
