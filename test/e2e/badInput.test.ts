import { describe, expect, it } from 'vitest';
import { call, errorOf, messageIdOf, publish, service } from '../support/publish.ts';
import { useReceiver } from '../support/useReceiver.ts';

const receiver = useReceiver();

const inTwoYears = String(Math.floor(Date.now() / 1000) + 2 * 366 * 86_400);

describe('a malformed configuration', () => {
  it.each<[name: string, value: string, status: number, says: RegExp]>([
    ['Svc-Method', 'FETCH', 400, /^Svc-Method is "FETCH"; allowed are GET, POST, PUT, PATCH, DELETE\.$/],
    ['Svc-Timeout', '30', 400, /^Svc-Timeout is "30"; allowed is a whole number and a unit \(h, m, s\)/],
    ['Svc-Timeout', '1d', 400, /^Svc-Timeout is "1d"/],
    ['Svc-Timeout', '0s', 400, /^Svc-Timeout is "0s"; allowed is 1s or more/],
    ['Svc-Retries', 'many', 400, /^Svc-Retries is "many"; allowed is a whole number from 0 to 5\.$/],
    ['Svc-Retries', '-1', 400, /^Svc-Retries is "-1"/],
    ['Svc-Retries', '1.5', 400, /^Svc-Retries is "1\.5"/],
    ['Svc-Retries', '6', 412, /^Svc-Retries is 6, but the account's limit max_retries is 5\.$/],
    ['Svc-Retry-Delay', 'pow(2)', 400, /^Svc-Retry-Delay is "pow\(2\)": pow takes 2 arguments, not 1\./],
    ['Svc-Retry-Delay', 'attempt * 2', 400, /the name "attempt" is unknown/],
    ['Svc-Retry-Delay', 'process.exit()', 400, /^Svc-Retry-Delay is/],
    ['Svc-Retry-Delay', '1 +', 400, /^Svc-Retry-Delay is "1 \+"/],
    ['Svc-Retry-Delay', '"1000"', 400, /is not a number/],
    ['Svc-Retry-Delay', '1'.repeat(501), 400, /longer than 500 characters/],
    ['Svc-Delay', 'soon', 400, /^Svc-Delay is "soon"; allowed is a whole number and a unit \(d, h, m, s\)/],
    ['Svc-Delay', '10', 400, /^Svc-Delay is "10"/],
    ['Svc-Delay', '1m1m', 400, /^Svc-Delay is "1m1m"/],
    ['Svc-Delay', '366d', 412, /^Svc-Delay is "366d", but the account's limit max_delay is 31536000/],
    [
      'Svc-Not-Before',
      'tomorrow',
      400,
      /^Svc-Not-Before is "tomorrow"; allowed is a Unix time in whole seconds\.$/,
    ],
    [
      'Svc-Not-Before',
      inTwoYears,
      412,
      /^Svc-Not-Before is "\d+", but .*max_delay is 31536000 seconds from now/,
    ],
    ['Svc-Callback', 'example.com', 400, /^Svc-Callback is "example\.com": it has another form\./],
    ['Svc-Callback', 'ftp://example.com', 400, /^Svc-Callback is "ftp:/],
    ['Svc-Callback', 'http://10.0.0.1/x', 403, /^Svc-Callback is .* not a public address/],
    ['Svc-Failure-Callback', 'http://[fe80::1]/', 403, /^Svc-Failure-Callback is .* not a public address/],
    ['Svc-Header-Forward', 'yes', 400, /^Svc-Header-Forward is "yes"; allowed are true and false\.$/],
    ['Svc-Label', 'a,,b', 400, /^Svc-Label is "a,,b"; allowed are up to 10 labels/],
    ['Upstash-Retries', 'x', 400, /^Upstash-Retries is "x"/],
    [
      'Svc-Deduplication-Id',
      'x'.repeat(1_025),
      400,
      /^Svc-Deduplication-Id is .*; allowed are 1 to 1024 characters/,
    ],
    [
      'Svc-Redact-Fields',
      'body,cookies',
      400,
      /^Svc-Redact-Fields is .*; allowed are body, headers and header/,
    ],
    [
      'Svc-Flow-Control-Value',
      'parallelism=1',
      400,
      /^Svc-Flow-Control-Value is given without Svc-Flow-Control-Key/,
    ],
    ['Svc-Flow-Control-Key', 'x', 400, /^Svc-Flow-Control-Key is given without Svc-Flow-Control-Value/],
  ])('%s: %s is refused', async (name, value, status, says) => {
    const inbox = receiver.inbox();
    const answer = await publish(inbox.url, { headers: { [name]: value } });
    expect([answer.status, errorOf(answer)]).toEqual([status, expect.stringMatching(says)]);
    expect(inbox.deliveries).toHaveLength(0);
  });

  it.each([
    ['Svc-Callback-Retries', 'x'],
    ['Svc-Callback-Method', 'x'],
    ['Svc-Callback-Delay', 'x'],
    ['Svc-Callback-Timeout', 'x'],
    ['Svc-Callback-Retry-Delay', 'x'],
  ])('%s: %s is refused', async (name, value) => {
    const inbox = receiver.inbox();
    const answer = await publish(inbox.url, { headers: { 'Svc-Callback': inbox.url, [name]: value } });
    expect([answer.status, errorOf(answer)]).toEqual([400, expect.stringMatching(`^${name} is "x"`)]);
  });

  it('is refused in a query parameter with its header’s name', async () => {
    const answer = await publish(receiver.inbox().url, { query: 'svc-retries=none' });
    expect([answer.status, errorOf(answer)]).toEqual([400, expect.stringContaining('Svc-Retries is "none"')]);
  });

  it('is refused if a setting has two values', async () => {
    const answer = await publish(receiver.inbox().url, { query: 'svc-retries=1&svc-retries=2' });
    expect([answer.status, errorOf(answer)]).toEqual([400, 'Svc-Retries is given 2 times; allowed is once.']);
  });
});

describe('a malformed destination', () => {
  it.each<[destination: string, status: number, says: RegExp]>([
    ['ftp://example.com', 400, /^The destination is "ftp:.*allowed is a URL that starts with http/],
    ['mailto:x@example.com', 400, /^The destination is "mailto:/],
    ['http://', 400, /^The destination is/],
    ['http://exa%20mple.com/', 400, /^The destination is .*cannot be read/],
    ['http://example.com:99999/', 400, /^The destination is .*cannot be read/],
    ['some-group', 404, /^There is no URL group "some-group"\.$/],
    ['not$a$group', 400, /^The destination is "not\$a\$group"/],
    ['https%3A%2F%2Fexample.com%2F%ZZ', 400, /percent-encoded, but not correctly/],
  ])('%s is refused', async (destination, status, says) => {
    const answer = await publish(destination);
    expect([answer.status, errorOf(answer)]).toEqual([status, expect.stringMatching(says)]);
  });

  it.each([
    'http://169.254.169.254/latest/meta-data',
    'http://10.1.2.3/',
    'http://192.168.0.1:8080/x',
    'http://172.16.0.1/',
    'http://100.64.0.1/',
    'http://0.0.0.0/',
    'http://224.0.0.1/',
    'http://[fd00::1]/',
    'http://[fe80::1]/',
    'http://[::ffff:10.0.0.1]/',
    'http://[64:ff9b::a00:1]/',
    'http://0xa.0.0.1/',
    'http://167772161/',
    'http://user:secret@10.0.0.1/',
  ])('%s is refused as unsafe', async (destination) => {
    const answer = await publish(destination);
    expect([answer.status, errorOf(answer)]).toEqual([403, expect.stringContaining('not a public address')]);
  });

  it('is refused if it is the service itself', async () => {
    const answer = await publish(`${service.url}/v2/publish/x`);
    expect([answer.status, errorOf(answer)]).toEqual([
      403,
      expect.stringContaining('is this service itself'),
    ]);
  });
});

describe('a token', () => {
  const encode = (parts: unknown): string => Buffer.from(JSON.stringify(parts)).toString('base64');

  it.each([
    ['none', null, /^The token is missing; send it as/],
    ['one that is no base64 of JSON', 'nonsense', /^The token is malformed/],
    ['one of another shape', encode({ user: 'local' }), /^The token is malformed/],
    ['one of an unknown account', encode({ UserID: 'nobody', Password: 'x' }), /^The token is not valid\.$/],
    ['one with a wrong password', encode({ UserID: 'local', Password: 'x' }), /^The token is not valid\.$/],
  ])('%s is refused', async (_title, token, says) => {
    const inbox = receiver.inbox();
    const answer = await publish(inbox.url, { token });
    expect([answer.status, errorOf(answer)]).toEqual([401, expect.stringMatching(says)]);
    expect(inbox.deliveries).toHaveLength(0);
  });

  it('that may only read is refused for a change', async () => {
    const answer = await publish(receiver.inbox().url, { token: service.readOnlyToken });
    expect([answer.status, errorOf(answer)]).toEqual([403, expect.stringContaining('read-only')]);
  });
});

describe('a body', () => {
  it('larger than the account’s largest is refused', async () => {
    const answer = await publish(receiver.inbox().url, { body: new Uint8Array(4 * 1_048_576 + 1) });
    expect(answer.status).toBe(413);
    expect(errorOf(answer)).toMatch(
      /^The body has 4194305 bytes, but the account's limit max_message_size is 4194304 bytes\.$/,
    );
  });

  it('as large as the account’s largest is delivered', async () => {
    const inbox = receiver.inbox();
    messageIdOf(await publish(inbox.url, { body: new Uint8Array(4 * 1_048_576) }));
    const [delivery] = await inbox.received(1);
    expect(delivery?.body.length).toBe(4 * 1_048_576);
  });
});

describe('a path', () => {
  it.each([
    '/v2/nowhere',
    '/nowhere',
    '/v2/logs/1',
    '/v2/messages/msg_1/no/where',
    '/v2/publish',
    '/v2/wait/',
  ])('that does not exist is a 404: %s', async (path) => {
    const answer = await call(path);
    expect([answer.status, typeof errorOf(answer)]).toEqual([404, 'string']);
    expect(answer.json).toMatchObject({ code: 'path_not_found' });
  });

  it('that exists with another method gets 405', async () => {
    const answer = await call('/v2/health', { method: 'DELETE' });
    expect([answer.status, typeof errorOf(answer)]).toEqual([405, 'string']);
  });

  it.each([
    ['/v2/schedules', 'GET, HEAD'],
    ['/v2/schedules/nightly', 'GET, HEAD, PATCH, DELETE, POST'],
    ['/v2/schedules/nightly/pause', 'POST, PATCH'],
    ['/v2/schedules/https://example.com/a/b', 'POST'],
    ['/v2/messages/msg_1', 'GET, HEAD, PATCH, DELETE'],
    ['/v2/messages/count', 'GET, HEAD'],
    ['/v2/dlq/retry', 'POST'],
    ['/v2//dlq//retry/', 'POST'],
    ['/v2/workflows/runs/count', 'GET, HEAD'],
    ['/v2/health', 'GET, HEAD'],
  ])('says which methods it supports: %s', async (path, allowed) => {
    const answer = await call(path, { method: 'OPTIONS' });
    const given = answer.headers.get('allow')?.split(', ').sort();
    expect([answer.status, given]).toEqual([405, allowed.split(', ').sort()]);
  });

  it('of the health check needs no token', async () => {
    const answer = await call('/v2/health');
    expect([answer.status, answer.json]).toEqual([200, { status: 'ok', region: service.region }]);
  });
});

describe('a period', () => {
  const lists = ['messages', 'logs', 'dlq', 'workflows/logs', 'workflows/dlq', 'workflows/runs/count'];
  const ask = (list: string, query: string) =>
    call(`/v2/${list}?${query}`, { headers: { authorization: `Bearer ${service.token}` } });

  it.each(lists)('that ends before it starts is refused: %s', async (list) => {
    const answer = await ask(list, 'fromDate=1767225600000&toDate=33299');
    expect([answer.status, errorOf(answer)]).toEqual([
      400,
      'fromDate is 1767225600000, which is after toDate, 33299; allowed is the same or earlier.',
    ]);
  });

  it.each(lists.flatMap((list) => ['-1', '1e3', 'soon', '9'.repeat(16)].map((date) => [list, date])))(
    'has whole numbers as its ends: %s from %s',
    async (list, date) => {
      const answer = await ask(list, `fromDate=${date}`);
      expect([answer.status, errorOf(answer)]).toEqual([400, expect.stringContaining(`"${date}"`)]);
    },
  );

  it.each(lists.flatMap((list) => ['fromDate', 'toDate'].map((end) => [list, end])))(
    'may lie as far away as can be: %s, %s',
    async (list, end) => {
      expect((await ask(list, `${end}=${'9'.repeat(15)}`)).status).toBe(200);
      expect((await ask(list, `${end}=0`)).status).toBe(200);
    },
  );
});

describe('a count or a cursor', () => {
  const lists = ['messages', 'logs', 'dlq', 'workflows/logs', 'workflows/dlq'];
  const bad = ['count=0', 'count=-1', 'count=1001', 'count=1e2', `count=${'9'.repeat(40)}`, 'cursor=none'];

  it.each(lists.flatMap((list) => bad.map((query) => [list, query])))(
    'that cannot be is refused: %s?%s',
    async (list, query) => {
      const headers = { authorization: `Bearer ${service.token}` };
      const answer = await call(`/v2/${list}?${query}`, { headers });
      const [name] = query.split('=');
      expect([answer.status, errorOf(answer)]).toEqual([400, expect.stringContaining(name ?? '')]);
    },
  );
});
