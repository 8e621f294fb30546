import { describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import {
  api,
  getMessage,
  listLogs,
  logged,
  logEntry,
  ok,
  publishDelayed,
  query,
  unique,
  type LogEntry,
} from '../support/api.ts';
import { makeGroup } from '../support/groups.ts';
import { messageIdOf, publish } from '../support/publish.ts';
import { startReceiver } from '../support/receiver.ts';
import { useReceiver } from '../support/useReceiver.ts';
import { expectRefusal } from '../support/refusals.ts';

const receiver = useReceiver();

type Filters = Parameters<typeof query>[0];

const statesOf = (entries: readonly LogEntry[]): readonly string[] => entries.map(({ state }) => state);

async function delivered(destination: string, headers: Record<string, string> = {}): Promise<string> {
  const answer = await publish(destination, { headers });
  const messageId = /msg_[0-9A-Z]{26}/.exec(JSON.stringify(answer.json))?.[0];
  if (messageId === undefined) throw new Error(JSON.stringify(answer.json));
  await logged({ messageId, state: 'DELIVERED' }, 1);
  return messageId;
}

async function allPages(filters: Filters, between: () => Promise<unknown> = () => Promise.resolve()) {
  const pages: LogEntry[][] = [];
  let cursor: string | undefined;
  do {
    const page = await listLogs({ ...filters, cursor });
    pages.push(page.logs);
    cursor = page.cursor;
    await between();
  } while (cursor !== undefined);
  return pages;
}

describe('the log of a message', () => {
  it('that is delivered has CREATED, ACTIVE and DELIVERED', async () => {
    const inbox = receiver.inbox((_delivery, response) => response.writeHead(201).end('done'));
    const label = unique('label');
    const messageId = messageIdOf(
      await publish(inbox.url, {
        body: 'secret',
        headers: { 'Svc-Label': `${label},second`, 'Svc-Method': 'PUT' },
      }),
    );
    const entries = await logged({ messageId }, 3);
    expect(statesOf(entries)).toEqual(['DELIVERED', 'ACTIVE', 'CREATED']);
    for (const entry of entries) {
      expect(entry).toMatchObject({
        messageId,
        url: inbox.url,
        method: 'PUT',
        label,
        labels: [label, 'second'],
      });
      expect(entry['callerIP']).toMatch(/^[0-9a-f.:]+$/);
    }
    expect(entries[0]).toMatchObject({ responseStatus: 201, retried: 0 });
    expect(entries[1]).toMatchObject({ retried: 0 });
    expect(JSON.stringify(entries)).not.toContain('secret');
    const times = entries.map(({ time }) => time);
    expect(times).toEqual([...times].sort((one, other) => other - one));
  });

  it('that fails and is retried has ERROR with the response and RETRY with the next time', async () => {
    const inbox = receiver.inbox((_delivery, response, before) =>
      response.writeHead(before === 0 ? 503 : 200, { 'x-why': 'busy' }).end('ünavailable'),
    );
    const messageId = messageIdOf(await publish(inbox.url, { headers: { 'Svc-Retry-Delay': '500' } }));
    const entries = await logged({ messageId }, 6);
    expect(statesOf(entries)).toEqual(['DELIVERED', 'ACTIVE', 'RETRY', 'ERROR', 'ACTIVE', 'CREATED']);
    const [, , retry, error] = entries;
    expect(error).toMatchObject({
      responseStatus: 503,
      responseBody: Buffer.from('ünavailable').toString('base64'),
      responseHeaders: { 'X-Why': ['busy'] },
      retried: 0,
    });
    expect(error?.['nextDeliveryTime']).toBe((error?.time ?? 0) + 500);
    expect(retry?.['nextDeliveryTime']).toBe(error?.['nextDeliveryTime']);
  });

  it('shows the message’s configuration in every entry', async () => {
    const inbox = receiver.inbox((_delivery, response) => response.writeHead(500).end());
    const callback = receiver.inbox();
    const headers = {
      'Svc-Retries': '1',
      'Svc-Retry-Delay': '600000',
      'Svc-Timeout': '7s',
      'Svc-Forward-X-Tenant': 'acme',
      'Svc-Forward-Authorization': 'Bearer hidden',
      'Svc-Redact-Fields': 'header[authorization]',
      'Svc-Callback': `${callback.url}/done`,
      'Svc-Failure-Callback': `${callback.url}/failed`,
      'Svc-Flow-Control-Key': 'key',
      'Svc-Flow-Control-Value': 'rate=10, parallelism=3',
      'Svc-Label': unique('label'),
    };
    const messageId = messageIdOf(await publish(inbox.url, { headers }));
    await logged({ messageId }, 4);
    const message = await getMessage(messageId);
    await ok(api('DELETE', `/v2/messages/${messageId}`));
    const byId = await logged({ messageId }, 6);
    expect(statesOf(byId)).toEqual(['CANCELED', 'CANCEL_REQUESTED', 'RETRY', 'ERROR', 'ACTIVE', 'CREATED']);
    const names = [
      ...['maxRetries', 'retryDelayExpression', 'timeout', 'header', 'callback', 'failureCallback'],
      ...['flowControlKey', 'parallelism', 'rate', 'ratePerSecond', 'period', 'label', 'labels'],
    ];
    const settings = Object.fromEntries(names.map((name) => [name, message[name]]));
    for (const entry of byId) expect(entry).toMatchObject(settings);
    expect(JSON.stringify(byId)).not.toContain('hidden');
    expect(JSON.stringify(byId)).toContain('REDACTED:');
  });

  it('that fails permanently has FAILED, and why there was no answer', async () => {
    const gone = await startReceiver();
    await gone.close();
    const messageId = messageIdOf(await publish(`${gone.origin}/x`, { headers: { 'Svc-Retries': '0' } }));
    const entries = await logged({ messageId }, 4);
    expect(statesOf(entries)).toEqual(['FAILED', 'ERROR', 'ACTIVE', 'CREATED']);
    expect(entries[1]).toMatchObject({ responseStatus: 0 });
    expect(entries[1]?.['error']).toContain('ECONNREFUSED');
    expect(entries[1]).not.toHaveProperty('nextDeliveryTime');
  });

  it('is answered for several ids, newest first, and once for a repeated id', async () => {
    const first = await delivered(receiver.inbox().url);
    const second = await delivered(receiver.inbox().url);
    const ids = [first, second, first, 'msg_x'];
    for (const messageIds of [ids, [ids.join(',')]]) {
      // All other filters are ignored if ids are given.
      const { logs } = await listLogs({ messageIds, state: 'FAILED', fromDate: 1, toDate: 2 });
      expect(logs).toHaveLength(6);
      expect(new Set(logs.map(({ messageId }) => messageId))).toEqual(new Set([first, second]));
      const records = logs.filter(({ state }) => state === 'DELIVERED').map(({ messageId }) => messageId);
      expect(records).toEqual([second, first]);
    }
  });

  it('is answered under its older name, too, with both keys', async () => {
    const messageId = await delivered(receiver.inbox().url);
    const page = z
      .object({ logs: z.array(logEntry), events: z.array(logEntry) })
      .parse(await ok(api('GET', `/v2/events${query({ messageId })}`)));
    expect(page.logs).toHaveLength(3);
    expect(page.events).toEqual(page.logs);
  });
});

describe('the log', () => {
  it('filters by each state', async () => {
    const label = unique('label');
    const failing = receiver.inbox((_delivery, response) => response.writeHead(500).end());
    const headers = { 'Svc-Label': label };
    await publish(receiver.inbox().url, { headers });
    await publish(failing.url, { headers: { ...headers, 'Svc-Retries': '1', 'Svc-Retry-Delay': '0' } });
    await ok(api('DELETE', `/v2/messages/${await publishDelayed(receiver.origin, headers)}`));
    const all = statesOf(await logged({ label }, 13)).toSorted();
    expect(all).toEqual([
      ...Array<string>(3).fill('ACTIVE'),
      'CANCELED',
      'CANCEL_REQUESTED',
      ...Array<string>(3).fill('CREATED'),
      'DELIVERED',
      'ERROR',
      'ERROR',
      'FAILED',
      'RETRY',
    ]);
    for (const state of new Set(all)) {
      const { logs } = await listLogs({ label, state });
      expect(statesOf(logs)).toEqual(all.filter((one) => one === state));
    }
    const inProgress = statesOf((await listLogs({ label, state: 'IN_PROGRESS' })).logs);
    expect(inProgress.toSorted()).toEqual(all.filter((one) => ['ACTIVE', 'RETRY', 'ERROR'].includes(one)));
    const two = statesOf((await listLogs({ label, state: ['FAILED', 'DELIVERED'] })).logs);
    expect(two.toSorted()).toEqual(['DELIVERED', 'FAILED']);
    for (const state of ['CANCELED', 'CANCELLED', 'cancelled']) {
      expect(statesOf((await listLogs({ label, state })).logs)).toEqual(['CANCELED']);
    }
  });

  it('filters by each field alone', async () => {
    const [label, queueName, flowControlKey] = [unique('label'), unique('queue'), unique('flow')];
    const topicName = await makeGroup([{ url: receiver.inbox().url, name: 'named' }]);
    const { url } = receiver.inbox();
    const settings = {
      'Svc-Label': label,
      'Svc-Flow-Control-Key': flowControlKey,
      'Svc-Flow-Control-Value': 'rate=10',
    };
    const byGroup = await delivered(topicName);
    for (const entry of await logged({ topicName }, 3))
      expect(entry).toMatchObject({ messageId: byGroup, topicName, endpointName: 'named' });
    await delivered(receiver.inbox().url, { 'Svc-Label': `${label}2` });
    const messageId = messageIdOf(
      await api('POST', `/v2/enqueue/${queueName}/${url}`, { headers: settings }),
    );
    const entries = await logged({ messageId }, 3);
    const times = entries.map(({ time }) => time);
    const callerIp = String(entries[0]?.['callerIp']);
    const { host, pathname: path } = new URL(url);
    const dates = { fromDate: Math.min(...times), toDate: Math.max(...times) };
    for (const filters of [
      ...[{ label }, { url }, { path }, { queueName }, { flowControlKey }],
      ...[
        { label, host },
        { label, callerIp },
        { label, ...dates },
      ],
    ]) {
      const { logs } = await listLogs(filters);
      expect([filters, logs]).toEqual([filters, entries]);
    }
    for (const other of [
      ...[{ host: `x.${host}` }, { callerIp: '203.0.113.9' }, { scheduleId: 'scd_none' }],
      ...[{ fromDate: dates.toDate + 1 }, { toDate: dates.fromDate - 1 }],
    ])
      expect([other, (await listLogs({ label, ...other })).logs]).toEqual([other, []]);
  });

  it('is paged without gaps or repetitions while new entries arrive', async () => {
    const label = unique('label');
    const inbox = receiver.inbox();
    const send = () => publish(inbox.url, { headers: { 'Svc-Label': label } });
    await Promise.all(Array.from({ length: 20 }, send));
    const before = await logged({ label }, 60);
    const pages = await allPages({ label, count: 5 }, async () => Promise.all([send(), send(), send()]));
    expect(pages.length).toBeGreaterThanOrEqual(12);
    expect(pages.every((page) => page.length <= 5)).toBe(true);
    const seen = pages
      .flat()
      .map(({ messageId, state, retried }) => JSON.stringify([messageId, state, retried]));
    expect(new Set(seen).size).toBe(seen.length);
    const known = before.map(({ messageId, state, retried }) => JSON.stringify([messageId, state, retried]));
    expect(seen).toEqual(expect.arrayContaining(known));
  });
});

describe('a wrong request for the log', () => {
  it.each<[text: string, says: RegExp]>([
    [
      'labels=x',
      /^"labels" is not a filter here; known are topicName, .*, messageId, state, body, fromDate, toDate, count, order, cursor, messageIds\.$/,
    ],
    ['responseStatus=500', /^"responseStatus" is not a filter here/],
    ['state=DONE', /^state is "DONE"; allowed are CREATED, HELD, ACTIVE, RETRY, ERROR, .*IN_PROGRESS/],
    ['state=', /^state is empty; a filter must have a value\.$/],
    ['count=1001', /^count is "1001"; allowed is a whole number from 1 to 1000\.$/],
    ['order=oldest', /^order is "oldest"; allowed are latestFirst, earliestFirst\.$/],
    ['count=1&count=2', /^count is given 2 times/],
    ['toDate=-1', /^toDate is "-1"/],
  ])('with %s is refused', async (text, says) => {
    for (const path of ['/v2/logs', '/v2/events']) {
      await expectRefusal(api('GET', `${path}?${text}`), 400, says);
    }
  });

  it('with a cursor that the service did not make is refused', async () => {
    const label = unique('label');
    await delivered(receiver.inbox().url, { 'Svc-Label': label });
    const { cursor = '' } = await listLogs({ label, count: 1 });
    const middle = Math.floor(cursor.length / 2);
    const changed = cursor[middle] === 'A' ? 'B' : 'A';
    const tampered = `${cursor.slice(0, middle)}${changed}${cursor.slice(middle + 1)}`;
    for (const wrong of [tampered, cursor.slice(4), `${cursor}AAAA`, 'x', '1700000000000', 'ü']) {
      await expectRefusal(
        api('GET', `/v2/logs${query({ label, cursor: wrong })}`),
        400,
        'cursor is not one that this list handed out; send it back exactly as it was answered, for the same list in the same order.',
      );
    }
    await expectRefusal(api('GET', `/v2/dlq${query({ label, cursor })}`), 400, /^cursor is not one/);
    expect((await listLogs({ label, count: 1, cursor })).logs).toHaveLength(1);
  });
});
