import type { OutgoingHttpHeaders } from 'node:http';
import { describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { api, getMessage, isWaiting, ok, unique } from '../support/api.ts';
import { messageIdOf, publish, service } from '../support/publish.ts';
import type { Delivery } from '../support/receiver.ts';
import { send, type RawAnswer, type RawRequest } from '../support/send.ts';
import { tellingPaths } from '../support/tellingPaths.ts';
import { useReceiver } from '../support/useReceiver.ts';
import { expectRefusal } from '../support/refusals.ts';

const receiver = useReceiver();

const isLocal = service.target === 'local';
const token = { authorization: `Bearer ${service.token}` };
const delayed = { 'Svc-Delay': '1h' };
const somewhere = 'https://example.com/hook';

const throughBoth = async (request: RawRequest): Promise<readonly [RawAnswer, RawAnswer]> => [
  await send(service.url, request),
  await send(service.publishUrl, request),
];

const refusal = z.object({ error: z.string(), code: z.string() });
const refusalOf = ({ text }: RawAnswer): z.infer<typeof refusal> => refusal.parse(JSON.parse(text));
const sentence = (answer: RawAnswer): string => refusalOf(answer).error;

/** Removes the parts of a delivered request that differ for each message. */
function seen({ method, target, headers, body }: Delivery, inboxUrl: string) {
  const own =
    /^(host|connection|content-length|svc-(message-id|signature)|webhook-.*|upstash-.*|traceparent|x-amz.*)$/;
  return {
    method,
    target: target.slice(new URL(inboxUrl).pathname.length),
    body: body.toString('latin1'),
    headers: Object.entries(headers)
      .filter(([name]) => !own.test(name))
      // The publish URL joins the values of a name itself, without a space.
      .map(([name, value]) => `${name}: ${name === 'cookie' ? value : value.split(/, ?/).join(', ')}`)
      .sort(),
  };
}

async function deliveredThroughBoth(tail: string, request: Omit<RawRequest, 'path'>) {
  const arrived = [];
  for (const url of [service.url, service.publishUrl]) {
    const inbox = receiver.inbox();
    const path = `/v2/publish/${inbox.url}${tail}`;
    const answer = await send(url, { ...request, path, headers: { ...token, ...request.headers } });
    expect([answer.status, answer.text]).toEqual([200, expect.stringContaining('msg_')]);
    const [delivery] = await inbox.received(1);
    arrived.push(delivery && seen(delivery, inbox.url));
  }
  return arrived;
}

describe('a message through the publish URL arrives like through the API', () => {
  const forwarded = { 'Svc-Header-Forward': 'true' };
  const allBytes = Uint8Array.from({ length: 256 }, (_, index) => index);
  it.each<readonly [title: string, tail: string, headers: OutgoingHttpHeaders, body: string | Uint8Array]>([
    ['JSON', '', { 'Content-Type': 'application/json' }, '{"price":"5 €","note":"a \\"b\\""}'],
    ['text', '', { 'Content-Type': 'text/plain; charset=utf-8' }, 'ünï \u2028 \u0001 \uFFFD'],
    ['no body', '', {}, ''],
    ['a body without a type', '', {}, 'typeless'],
    ['a form', '', { 'Content-Type': 'application/x-www-form-urlencoded' }, 'a=1&b=%20'],
    ['JSON by another name', '', { 'Content-Type': 'application/cloudevents+json' }, '{"ü":1}'],
    [
      'configuration, a header that is forwarded twice, and labels, which are separated by commas',
      '',
      { 'Svc-Method': 'PATCH', 'Svc-Forward-X-Tag': ['a', 'b'], 'Svc-Label': 'one,two' },
      'x',
    ],
    ['all headers of the request', '', { ...forwarded, 'X-Request-Tag': 'r', Cookie: 'a=1; b=2' }, 'x'],
    [
      'configuration in the query, and a query of the destination',
      '?svc-method=PUT&svc-forward-x-q=%C3%BC&b=1&c=two%20words&d=%2F%26&e=a%2Bb&f=a+b',
      {},
      'x',
    ],
    ...(isLocal
      ? ([
          // The emulator reads bytes as text. Lambda does not, and neither does the local stage.
          ['bytes', '', { 'Content-Type': 'application/octet-stream' }, allBytes],
          ['bytes without a type', '', {}, allBytes],
        ] as const)
      : []),
  ])('with %s', async (_title, tail, headers, body) => {
    const [first, second] = await deliveredThroughBoth(tail, { headers, body });
    expect(second).toEqual(first);
  });

  it.each<readonly [string, string]>([...tellingPaths, ['the path of an API', '/v2/publish/console/x']])(
    'with %s in its destination',
    async (_title, tail) => {
      const [first, second] = await deliveredThroughBoth(tail, { body: 'x' });
      expect([first?.target, second?.target]).toEqual([tail, tail]);
    },
  );

  it('with its query in the original order, which the gateway loses', async () => {
    const [, second] = await deliveredThroughBoth('?b=1&a=2&b=3', {});
    expect(second?.target).toBe(isLocal ? '?b=1&a=2&b=3' : '?b=1&b=3&a=2');
  });

  it('with its publisher’s address', async () => {
    const ids = [
      messageIdOf(await publish(somewhere, { headers: delayed })),
      messageIdOf(await publish(somewhere, { headers: delayed, url: service.publishUrl })),
    ];
    const [first, second] = await Promise.all(ids.map(getMessage));
    expect(second?.callerIP).toBe(first?.callerIP);
  });
});

describe('every way to publish', () => {
  it('many at once', async () => {
    const inbox = receiver.inbox();
    const items = Array.from({ length: 25 }, (_, index) => ({
      destination: inbox.url,
      body: `ünï "${index}"`,
    }));
    const json = await ok(
      api('POST', '/v2/batch', {
        body: [...items, { destination: 'no$group' }],
        headers: { 'Content-Type': 'application/json' },
        url: service.publishUrl,
      }),
    );
    expect(z.array(z.unknown()).parse(json)).toHaveLength(26);
    expect(json).toMatchObject({ 0: { messageId: expect.any(String) as string }, 25: { status: 400 } });
    const bodies = (await inbox.received(25)).map(({ body }) => body.toString());
    expect(bodies.sort()).toEqual(items.map(({ body }) => body).sort());
  });

  it('with the token in the query, for senders that can only set a URL', async () => {
    const path = `/v2/publish/${somewhere}?svc_token=${encodeURIComponent(service.token)}&svc-delay=1h&q=1`;
    const { status, text } = await send(service.publishUrl, { path });
    expect(status).toBe(200);
    const { messageId } = z.object({ messageId: z.string() }).parse(JSON.parse(text));
    expect((await getMessage(messageId)).url).toBe(`${somewhere}?q=1`);
  });
});

describe('a refused request', () => {
  const path = `/v2/publish/${somewhere}`;
  it.each<[title: string, status: number, request: RawRequest]>([
    ['a request without a token', 401, { path }],
    ['a wrong setting', 400, { path, headers: { ...token, 'Svc-Retries': 'many' } }],
    ['a setting over a limit', 412, { path, headers: { ...token, 'Svc-Retries': '99' } }],
  ])('%s gets the same answer through both URLs', async (_title, status, request) => {
    const [first, second] = await throughBoth(request);
    expect([first.status, second.status]).toEqual([status, status]);
    expect(refusalOf(second)).toEqual(refusalOf(first));
    expect(second.headers['content-type']).toBe('application/json');
  });

  it('has two values of a setting that may be given once', async () => {
    const [first, second] = await throughBoth({ path, headers: { ...token, 'Svc-Retries': ['1', '2'] } });
    expect([first.status, second.status]).toEqual([400, 400]);
    // The emulator’s gateway joins them, too.
    if (isLocal) expect(sentence(first)).toBe('Svc-Retries is given 2 times; allowed is once.');
    expect(sentence(second)).toMatch(/^Svc-Retries is "1, ?2"; allowed is a whole number/);
  });

  it('has two tokens, even if one is valid', async () => {
    const headers = { Authorization: [`Bearer ${service.token}`, 'Bearer other'] };
    expect((await send(service.publishUrl, { path, headers })).status).toBe(401);
  });

  it('does not forward a token to a destination, even as one of two values of a header', async () => {
    const foreign = `Basic ${Buffer.from('sender:password').toString('base64')}`;
    for (const values of [
      [foreign, `Bearer ${service.token}`],
      [`Bearer ${service.token}`, foreign],
    ]) {
      for (const url of [service.url, service.publishUrl]) {
        const inbox = receiver.inbox();
        const query = `svc_token=${encodeURIComponent(service.token)}&svc-header-forward=true`;
        const headers = { Authorization: values };
        await send(url, { path: `/v2/publish/${inbox.url}?${query}`, headers });
        const [delivery] = await inbox.received(1);
        expect(JSON.stringify(delivery?.headerPairs)).not.toContain(service.token);
      }
    }
  });

  it.each(['GET', 'OPTIONS', 'HEAD'])('has the method %s, and gets the allowed ones', async (method) => {
    for (const place of [path, `/v2/enqueue/q/${somewhere}`, '/v2/batch']) {
      const [first, second] = await throughBoth({ method, path: place, headers: token });
      expect([first.status, second.status]).toEqual([405, 405]);
      if (method !== 'HEAD') expect(refusalOf(second).code).toBe('method_not_allowed');
      expect(second.headers['allow']).toBe(first.headers['allow']);
    }
  });

  it.each(['/', '/favicon.ico', '/v1/publish/https://example.com', '/consoles'])(
    'has the path %s, which the API does not get',
    async (path) => {
      const answer = await send(service.publishUrl, { method: 'GET', path, headers: token });
      expect([answer.status, refusalOf(answer)]).toEqual([
        404,
        { error: `There is no GET ${path}.`, code: 'path_not_found' },
      ]);
    },
  );

  it('goes to either URL of the service', async () => {
    for (const own of [service.url, service.publishUrl]) {
      await expectRefusal(
        publish(`${own}/v2/publish/${somewhere}`, { url: service.publishUrl }),
        403,
        'this service itself',
      );
    }
  });
});

// The emulator's functions do not reach its gateway.
describe.runIf(isLocal)('every other operation has the same answer through the publish URL', () => {
  const label = `東京 ${unique('label')}`;
  it.each<[title: string, status: number, request: RawRequest]>([
    ['a list with a filter', 200, { path: `/v2/logs?label=${encodeURIComponent(label)}&count=1` }],
    ['an unknown filter', 400, { path: '/v2/logs?other=a+b%20c' }],
    ['an id that does not exist', 404, { path: '/v2/messages/msg_none' }],
    ['a method that it does not have', 405, { method: 'PATCH', path: '/v2/queues' }],
    ['only its head', 200, { method: 'HEAD', path: '/v2/queues' }],
    ['no token', 401, { path: '/v2/queues', headers: {} }],
    ['no token needed', 200, { path: '/v2/health' }],
    ['an unknown path', 404, { path: '/v2/unknown' }],
    ['a page', 200, { path: '/console' }],
    ['a body that is wrong', 400, { method: 'POST', path: '/v2/queues', body: '{"queueName":"東京"}' }],
  ])('%s', async (_title, status, request) => {
    const [first, second] = await throughBoth({ method: 'GET', headers: token, ...request });
    expect([second.status, second.text]).toEqual([status, first.text]);
    expect(first.status).toBe(status);
    for (const name of ['content-type', 'allow', 'retry-after', 'cache-control'])
      expect([name, second.headers[name]]).toEqual([name, first.headers[name]]);
  });

  it('as a schedule with its destination byte for byte, its body, and its sender’s address', async () => {
    const destination = 'https://example.com/a/../b//c%2Fd?x=1&y=%2B&x=2';
    const made = await Promise.all(
      [service.url, service.publishUrl].map(async (url) => {
        const headers = { ...token, 'Svc-Cron': '0 0 29 2 *', 'Content-Type': 'text/plain' };
        const path = `/v2/schedules/${destination}`;
        const { text } = await send(url, { method: 'POST', path, headers, body: 'ünï 東京' });
        const { scheduleId } = z.object({ scheduleId: z.string() }).parse(JSON.parse(text));
        const shown = z.looseObject({}).parse(await ok(api('GET', `/v2/schedules/${scheduleId}`)));
        await ok(api('DELETE', `/v2/schedules/${scheduleId}`));
        return shown;
      }),
    );
    const [first, second] = made.map(({ destination: to, body, callerIP }) => ({ to, body, callerIP }));
    expect(second).toEqual(first);
    expect(second?.body).toBe('ünï 東京');
  });

  it('with the sender’s address, which a sender cannot choose', async () => {
    const path = '/v2/schedules/https://example.com';
    const forged = {
      ...token,
      'Svc-Cron': '0 0 29 2 *',
      'X-Forwarded-Sender': `192.0.2.9 ${Date.now()} AAAA`,
    };
    for (const url of [service.url, service.publishUrl]) {
      const { text } = await send(url, { method: 'POST', path, headers: forged });
      const { scheduleId } = z.object({ scheduleId: z.string() }).parse(JSON.parse(text));
      const shown = await ok(api('GET', `/v2/schedules/${scheduleId}`));
      expect(JSON.stringify(shown)).not.toContain('192.0.2.9');
      await ok(api('DELETE', `/v2/schedules/${scheduleId}`));
    }
  });
});

/** Limits of Lambda and the gateway, which the local stage imitates. */
describe.runIf(isLocal)('how large a request may be', () => {
  const path = `/v2/publish/${somewhere}`;

  it('is the same through both URLs for its first line and headers', async () => {
    for (const length of [8_000, 10_240]) {
      const headers = { ...token, ...delayed, 'X-Padding': 'x'.repeat(length) };
      const [first, second] = await throughBoth({ path, headers });
      expect(second.status).toBe(first.status);
      expect(first.status).toBe(length < 10_000 ? 200 : 431);
      if (second.status === 431) expect(refusalOf(second)).toEqual(refusalOf(first));
    }
  });

  it.each([
    ['application/octet-stream', Buffer.alloc(4 * 1_048_576, 0xff)],
    ['application/json', Buffer.from(`"${'ü'.repeat(2 * 1_048_576 - 1)}"`)],
  ])('is 4 MiB for a message with a body of %s', async (type, body) => {
    const headers = { ...token, ...delayed, 'Content-Type': type };
    const fits = await send(service.publishUrl, { path, headers, body });
    expect(fits.status).toBe(200);
    const { messageId } = z.object({ messageId: z.string() }).parse(JSON.parse(fits.text));
    expect(await isWaiting(messageId)).toBe(true);
    await ok(api('DELETE', `/v2/messages/${messageId}`));
    const [first, second] = await throughBoth({
      path,
      headers,
      body: Buffer.concat([body, Buffer.from('xx')]),
    });
    expect([first.status, second.status]).toEqual([413, 413]);
    expect(refusalOf(second)).toEqual(refusalOf(first));
  });
});

describe.runIf(isLocal)('a body with a text type that is not UTF-8', () => {
  it('is refused, because Lambda would change it, but the API accepts it', async () => {
    const inbox = receiver.inbox();
    const body = Uint8Array.from([0x66, 0xfc, 0x72]);
    const request = {
      path: `/v2/publish/${inbox.url}`,
      headers: { ...token, 'Content-Type': 'text/plain' },
      body,
    };
    const [first, second] = await throughBoth(request);
    expect([first.status, second.status]).toEqual([200, 400]);
    expect(refusalOf(second)).toMatchObject({
      error: expect.stringMatching(/^The body is sent as text, but is not UTF-8\./) as string,
      code: 'body_invalid',
    });
    expect((await inbox.received(1)).map((one) => [...one.body])).toEqual([[...body]]);
  });
});
