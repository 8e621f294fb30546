import { describe, expect, it } from 'vitest';
import { call, errorOf, publish, service } from '../support/publish.ts';
import { useReceiver } from '../support/useReceiver.ts';
import { expectRefusal } from '../support/refusals.ts';

const receiver = useReceiver();

const inTwoYears = String(Math.floor(Date.now() / 1000) + 2 * 366 * 86_400);

describe('a malformed configuration', () => {
  it.each<[name: string, value: string, status: number, says: RegExp]>([
    ['Svc-Method', 'FETCH', 400, /^Svc-Method is "FETCH"; allowed are GET, POST, PUT, PATCH, DELETE\.$/],
    ['Svc-Retries', '1.5', 400, /^Svc-Retries is "1\.5"; allowed is a whole number from 0 to 5\.$/],
    ['Svc-Header-Forward', 'yes', 400, /^Svc-Header-Forward is "yes"; allowed are true and false\.$/],
    ['Svc-Label', 'a,,b', 400, /^Svc-Label is "a,,b"; allowed are up to 10 labels/],
    ['Svc-Retries', '6', 412, /^Svc-Retries is 6, but the account's limit max_retries is 5\.$/],
    ['Svc-Retry-Delay', 'pow(2)', 400, /^Svc-Retry-Delay is "pow\(2\)": pow takes 2 arguments, not 1\./],
    ['Svc-Delay', '1m1m', 400, /^Svc-Delay is "1m1m"; allowed is a whole number and a unit \(d, h, m, s\)/],
    ['Svc-Not-Before', inTwoYears, 412, /^Svc-Not-Before is "\d+", but .*max_delay is 31536000 seconds/],
    ['Svc-Failure-Callback', 'http://[fe80::1]/', 403, /^Svc-Failure-Callback is .* not a public address/],
    ['Svc-Callback-Retry-Delay', 'x', 400, /^Svc-Callback-Retry-Delay is "x"/],
    ['Upstash-Retries', 'x', 400, /^Upstash-Retries is "x"/],
  ])('%s: %s is refused', async (name, value, status, says) => {
    const inbox = receiver.inbox();
    const callback: Record<string, string> = name.startsWith('Svc-Callback-')
      ? { 'Svc-Callback': inbox.url }
      : {};
    await expectRefusal(publish(inbox.url, { headers: { ...callback, [name]: value } }), status, says);
    expect(inbox.deliveries).toHaveLength(0);
  });

  it('is refused in a query parameter with its header’s name', async () => {
    await expectRefusal(
      publish(receiver.inbox().url, { query: 'svc-retries=none' }),
      400,
      'Svc-Retries is "none"',
    );
  });

  it('is refused if a setting has two values', async () => {
    await expectRefusal(
      publish(receiver.inbox().url, { query: 'svc-retries=1&svc-retries=2' }),
      400,
      'Svc-Retries is given 2 times; allowed is once.',
    );
  });
});

describe('a malformed destination', () => {
  it.each<[destination: string, status: number, says: RegExp]>([
    ['some-group', 404, /^There is no URL group "some-group": topic some-group not found\.$/],
    ['https%3A%2F%2Fexample.com%2F%ZZ', 400, /percent-encoded, but not correctly/],
  ])('%s is refused', async (destination, status, says) => {
    await expectRefusal(publish(destination), status, says);
  });

  it.each([
    'http://169.254.169.254/latest/meta-data',
    'http://[::ffff:10.0.0.1]/',
    'http://167772161/',
    'http://user:secret@10.0.0.1/',
  ])('%s is refused as unsafe', async (destination) => {
    await expectRefusal(publish(destination), 403, 'not a public address');
  });
});

describe('a token', () => {
  const encode = (parts: unknown): string => Buffer.from(JSON.stringify(parts)).toString('base64');

  it.each([
    ['none', null, /^The token is missing; send it as/],
    ['one that is no base64 of JSON', 'nonsense', /^The token is malformed/],
    ['one of an unknown account', encode({ UserID: 'nobody', Password: 'x' }), /^The token is not valid\.$/],
    ['one with a wrong password', encode({ UserID: 'local', Password: 'x' }), /^The token is not valid\.$/],
  ])('%s is refused', async (_title, token, says) => {
    const inbox = receiver.inbox();
    await expectRefusal(publish(inbox.url, { token }), 401, says);
    expect(inbox.deliveries).toHaveLength(0);
  });
});

describe('a path', () => {
  it.each(['/v2/nowhere', '/v2/messages/msg_1/no/where', '/v2/publish', '/v2/wait/'])(
    'that does not exist is a 404: %s',
    async (path) => {
      expect(await call(path)).toMatchObject({ status: 404, json: { code: 'path_not_found' } });
    },
  );

  it.each([
    ['/v2/schedules/nightly', 'GET, HEAD, PATCH, DELETE, POST'],
    ['/v2/schedules/nightly/pause', 'POST, PATCH'],
    ['/v2/schedules/https://example.com/a/b', 'POST'],
    ['/v2/messages/msg_1', 'GET, HEAD, PATCH, DELETE'],
    ['/v2//dlq//retry/', 'POST'],
  ])('says which methods it supports: %s', async (path, allowed) => {
    const answer = await call(path, { method: 'OPTIONS' });
    const given = answer.headers.get('allow')?.split(', ').sort();
    expect([answer.status, given]).toEqual([405, allowed.split(', ').sort()]);
  });
});

describe('a list', () => {
  const lists = ['messages', 'logs', 'dlq', 'workflows/logs', 'workflows/dlq', 'workflows/runs/count'];
  const ask = (list: string, query: string) =>
    call(`/v2/${list}?${query}`, { headers: { authorization: `Bearer ${service.token}` } });
  const far = '9'.repeat(15);

  it.each(lists)(
    'accepts a period of any length, and refuses one that cannot be, a count and a cursor: %s',
    async (list) => {
      const wrong: readonly (readonly [query: string, says: string])[] = [
        [
          'fromDate=1767225600000&toDate=33299',
          'fromDate is 1767225600000, which is after toDate, 33299; allowed is the same or earlier.',
        ],
        ...['-1', '1e3', 'soon', `${far}9`].map((date) => [`fromDate=${date}`, `"${date}"`] as const),
        ...['count=0', 'count=1001', 'count=1e2', 'cursor=none'].map(
          (query) => [query, query.split('=')[0] ?? ''] as const,
        ),
      ];
      for (const [query, says] of wrong) {
        const answer = await ask(list, query);
        expect([query, answer.status, errorOf(answer)]).toEqual([query, 400, expect.stringContaining(says)]);
      }
      for (const query of [`fromDate=${far}`, 'fromDate=0', `toDate=${far}`, 'toDate=0'])
        expect([query, (await ask(list, query)).status]).toEqual([query, 200]);
    },
  );
});
