import { describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { api, ok, unique } from '../support/api.ts';
import { addEndpoints, groupName, makeGroup, setDefaults } from '../support/groups.ts';
import { callbackOf } from '../support/callbacks.ts';
import { errorOf, publish, service } from '../support/publish.ts';
import { useReceiver } from '../support/useReceiver.ts';

const receiver = useReceiver();

const groupShape = z.strictObject({
  name: z.string(),
  createdAt: z.number(),
  updatedAt: z.number(),
  endpoints: z.array(z.strictObject({ url: z.string(), name: z.optional(z.string()) })),
  headers: z.record(z.string(), z.array(z.string())),
});
const published = z.array(z.strictObject({ messageId: z.string(), url: z.string() }));

const getGroup = async (name: string) => groupShape.parse(await ok(api('GET', `/v2/topics/${name}`)));
const endpointsOf = async (name: string) => (await getGroup(name)).endpoints;
const removeEndpoints = (name: string, endpoints: readonly object[]) =>
  api('DELETE', `/v2/topics/${name}/endpoints`, { body: { endpoints } });

const one = 'https://example.com/one';
const two = 'https://example.com/two';
const three = 'https://example.com/three';

describe('a URL group', () => {
  it('is created by adding endpoints to it, and shown singly and in the list', async () => {
    const before = Date.now();
    const name = await makeGroup([{ url: one, name: 'first' }, { url: two }]);
    const group = await getGroup(name);
    expect(group).toMatchObject({
      name,
      endpoints: [{ url: one, name: 'first' }, { url: two }],
      headers: {},
    });
    expect(group.createdAt).toBeGreaterThan(before - 60_000);
    expect(group.updatedAt).toBe(group.createdAt);
    const groups = z.array(groupShape).parse(await ok(api('GET', '/v2/topics')));
    expect(groups).toContainEqual(group);
  });

  it('accepts more endpoints, and records when it was changed', async () => {
    const name = await makeGroup([{ url: one }]);
    const before = await getGroup(name);
    await addEndpoints(name, [{ url: two, name: 'second' }]);
    const after = await getGroup(name);
    expect(after.endpoints).toEqual([{ url: one }, { url: two, name: 'second' }]);
    expect(after.createdAt).toBe(before.createdAt);
    expect(after.updatedAt).toBeGreaterThanOrEqual(before.updatedAt);
  });

  it('updates an endpoint with the same name, or otherwise with the same URL', async () => {
    const name = await makeGroup([{ url: one, name: 'first' }, { url: two }]);
    await addEndpoints(name, [{ url: three, name: 'first' }]);
    expect(await endpointsOf(name)).toEqual([{ url: three, name: 'first' }, { url: two }]);
    await addEndpoints(name, [{ url: two, name: 'second' }]);
    expect(await endpointsOf(name)).toEqual([
      { url: three, name: 'first' },
      { url: two, name: 'second' },
    ]);
  });

  it('loses only the endpoints that are removed by URL or by name', async () => {
    const name = await makeGroup([{ url: one, name: 'first' }, { url: two }, { url: three, name: 'third' }]);
    await ok(removeEndpoints(name, [{ name: 'first' }]));
    expect(await endpointsOf(name)).toEqual([{ url: two }, { url: three, name: 'third' }]);
    await ok(removeEndpoints(name, [{ url: three, name: 'third' }]));
    expect(await endpointsOf(name)).toEqual([{ url: two }]);
  });

  it('ends with its last endpoint', async () => {
    const name = await makeGroup([{ url: one }, { url: two }]);
    await ok(removeEndpoints(name, [{ url: one }, { url: two }]));
    expect((await api('GET', `/v2/topics/${name}`)).status).toBe(404);
    expect((await publish(name)).status).toBe(404);
  });

  it('ends when it is deleted', async () => {
    const name = await makeGroup([{ url: one }]);
    await ok(api('DELETE', `/v2/topics/${name}`));
    expect((await api('GET', `/v2/topics/${name}`)).status).toBe(404);
    // Deleting it again changes nothing, and neither does deleting a missing one.
    await ok(api('DELETE', `/v2/topics/${name}`));
    await ok(api('DELETE', `/v2/topics/${unique('never')}`));
  });

  it('keeps all endpoints that are added at the same time', async () => {
    const name = groupName();
    const urls = Array.from({ length: 15 }, (_, number) => `https://example.com/${number}`);
    await Promise.all(urls.map((url) => addEndpoints(name, [{ url }])));
    expect((await endpointsOf(name)).map(({ url }) => url).sort()).toEqual([...urls].sort());
  });
});

describe('a message to a group', () => {
  it('arrives at each endpoint as a separate message, which names its origin', async () => {
    const inboxes = [receiver.inbox(), receiver.inbox()] as const;
    const name = await makeGroup([{ url: inboxes[0].url, name: 'named' }, { url: inboxes[1].url }]);
    const answer = await publish(name, { body: 'to all', headers: { 'Svc-Forward-X-Tenant': 'acme' } });
    expect(answer.status).toBe(200);
    const messages = published.parse(answer.json);
    expect(messages.map(({ url }) => url)).toEqual(inboxes.map(({ url }) => url));
    const [[first], [second]] = await Promise.all([inboxes[0].received(1), inboxes[1].received(1)]);
    expect(first?.body.toString()).toBe('to all');
    expect(first?.headers).toMatchObject({
      'x-tenant': 'acme',
      'svc-topic-name': name,
      'svc-endpoint-name': 'named',
      'svc-message-id': messages[0]?.messageId,
    });
    expect(second?.headers).toMatchObject({
      'svc-topic-name': name,
      'svc-message-id': messages[1]?.messageId,
    });
    expect(second?.headers).not.toHaveProperty('svc-endpoint-name');
  });

  it('names its group and endpoint in its callbacks', async () => {
    const callbacks = receiver.inbox();
    const name = await makeGroup([{ url: receiver.inbox().url, name: 'named' }]);
    await publish(name, { headers: { 'Svc-Callback': callbacks.url } });
    const [callback] = await callbacks.received(1);
    expect(callback && callbackOf(callback)).toMatchObject({ topicName: name, endpointName: 'named' });
  });

  it('arrives at each of 100 endpoints', async () => {
    const inbox = receiver.inbox();
    const urls = Array.from({ length: 100 }, (_, number) => `${inbox.url}/${number}`);
    const name = await makeGroup(urls.map((url) => ({ url })));
    const messages = published.parse((await publish(name)).json);
    expect(messages.map(({ url }) => url)).toEqual(urls);
    const deliveries = await inbox.received(100);
    expect(new Set(deliveries.map(({ target }) => `${receiver.origin}${target}`))).toEqual(new Set(urls));
    expect(new Set(deliveries.map(({ headers }) => headers['svc-message-id']))).toEqual(
      new Set(messages.map(({ messageId }) => messageId)),
    );
  });

  it('uses the names of the Upstash dialect if it was published in it', async () => {
    const inbox = receiver.inbox();
    const name = await makeGroup([{ url: inbox.url, name: 'named' }]);
    await publish(name, { headers: { 'Upstash-Method': 'PUT' } });
    const [delivery] = await inbox.received(1);
    expect(delivery?.headers).toMatchObject({
      'upstash-topic-name': name,
      'upstash-endpoint-name': 'named',
    });
  });
});

describe('default headers of a group', () => {
  it('configure messages to it unless the request says otherwise', async () => {
    const inbox = receiver.inbox();
    const name = await makeGroup([{ url: inbox.url }]);
    await setDefaults(name, {
      'Svc-Method': 'PUT',
      'Svc-Forward-X-Default': 'default',
      'svc-forward-x-several': ['a', 'b'],
      'Svc-Forward-X-Both': 'from the group',
    });
    await publish(name, { headers: { 'Svc-Forward-X-Both': 'from the request' } });
    await publish(name, { query: 'svc-method=PATCH' });
    const deliveries = await inbox.received(2);
    const put = deliveries.find(({ method }) => method === 'PUT');
    expect(put?.headers).toMatchObject({
      'x-default': 'default',
      'x-several': 'a, b',
      'x-both': 'from the request',
    });
    expect(deliveries.find(({ method }) => method === 'PATCH')?.headers).toMatchObject({
      'x-default': 'default',
      'x-both': 'from the group',
    });
  });

  it('are replaced by a request that gives the time in another way', async () => {
    const inbox = receiver.inbox();
    const group = await makeGroup([{ url: inbox.url }]);
    await setDefaults(group, { 'Svc-Not-Before': String(Math.floor(Date.now() / 1000) + 600) });
    await ok(api('POST', `/v2/publish/${group}`, { headers: { 'Svc-Delay': '1s' } }));
    await inbox.received(1);
  });

  it('are shown in the reader’s dialect, and replaced as a whole', async () => {
    const name = await makeGroup([{ url: one }]);
    await setDefaults(name, { 'Svc-Retries': '2', 'Svc-Header-Forward': ['true'] });
    expect((await getGroup(name)).headers).toEqual({ 'Svc-Retries': ['2'], 'Svc-Header-Forward': ['true'] });
    const inUpstash = await ok(api('GET', `/v2/topics/${name}`, { headers: { 'Upstash-Method': 'GET' } }));
    expect(groupShape.parse(inUpstash).headers).toMatchObject({ 'Upstash-Retries': ['2'] });
    const patched = await setDefaults(name, { 'Svc-Delay': '1s' });
    expect(groupShape.parse(patched).headers).toEqual({ 'Svc-Delay': ['1s'] });
    await setDefaults(name, {});
    expect((await getGroup(name)).headers).toEqual({});
  });

  it('are kept when endpoints are added and removed', async () => {
    const name = await makeGroup([{ url: one }]);
    await setDefaults(name, { 'Svc-Retries': '2' });
    await addEndpoints(name, [{ url: two }]);
    await ok(removeEndpoints(name, [{ url: one }]));
    expect((await getGroup(name)).headers).toEqual({ 'Svc-Retries': ['2'] });
  });

  it.each<[headers: unknown, status: number, says: RegExp]>([
    [{ 'Svc-Retries': 'many' }, 400, /^Svc-Retries is "many"/],
    [{ 'Svc-Retries': '99' }, 412, /max_retries is 5/],
    [{ 'X-Other': 'x' }, 400, /^headers\.x-other is not a header of the service/],
    [{ 'Svc-Retries': { a: 3 } }, 400, /^headers\.Svc-Retries: .*allowed is \{"headers"/],
    [{ 'Svc-Callback': 'http://10.0.0.1/' }, 403, /not a public address/],
    [{ 'Svc-Forward-X': 'a\nb' }, 400, /^headers\.Svc-Forward-X is no HTTP header, or/],
    [{ 'Svc-Forward-X': 'x'.repeat(11_000) }, 400, /^headers have 11013 bytes; allowed are 10240\.$/],
    ['Svc-Retries: 3', 400, /^headers: /],
    [undefined, 400, /^headers: /],
  ])('%j are refused, and nothing is changed', async (headers, status, says) => {
    const name = await makeGroup([{ url: one }]);
    await setDefaults(name, { 'Svc-Retries': '2' });
    const answer = await api('PATCH', `/v2/topics/${name}`, { body: { headers } });
    expect([answer.status, errorOf(answer)]).toEqual([status, expect.stringMatching(says)]);
    expect((await getGroup(name)).headers).toEqual({ 'Svc-Retries': ['2'] });
  });
});

describe('a webhook’s sender, which can only set the URL,', () => {
  const token = `svc_token=${encodeURIComponent(service.token)}`;
  const webhook = { token: null, body: '{"event":"paid"}', headers: { 'X-Hub-Signature': 'abc' } };

  it('reaches every endpoint of a group', async () => {
    const inboxes = [receiver.inbox(), receiver.inbox()];
    const name = await makeGroup(inboxes.map(({ url }) => ({ url })));
    const answer = await publish(name, { ...webhook, query: token });
    expect(published.parse(answer.json)).toHaveLength(2);
    for (const inbox of inboxes) {
      const [delivery] = await inbox.received(1);
      expect(delivery?.body.toString()).toBe('{"event":"paid"}');
      expect(delivery?.headers).not.toHaveProperty('x-hub-signature');
      expect(delivery?.target).not.toContain('token');
    }
  });

  it.each<[how: string, query: string, defaults: Record<string, string>]>([
    ['the URL asks for it', `${token}&svc-header-forward=true`, {}],
    ['the group has it as a default', token, { 'Svc-Header-Forward': 'true' }],
  ])('has all its headers forwarded when %s', async (_how, query, defaults) => {
    const inbox = receiver.inbox();
    const name = await makeGroup([{ url: inbox.url }]);
    await setDefaults(name, defaults);
    await publish(name, { ...webhook, query });
    const [delivery] = await inbox.received(1);
    expect(delivery?.headers).toMatchObject({ 'x-hub-signature': 'abc' });
    expect(JSON.stringify(delivery?.headers)).not.toContain(service.token);
  });
});

describe('a malformed request for a group', () => {
  it.each<[endpoints: unknown, status: number, says: RegExp]>([
    [undefined, 400, /^endpoints: /],
    [[], 400, /^endpoints: .*at least one endpoint/],
    ['https://example.com', 400, /^endpoints: /],
    [[{ name: 'x' }], 400, /^endpoints\.0\.url: /],
    [[{ url: 'example.com' }], 400, /^endpoints\.0\.url is "example\.com": it has another form/],
    [[{ url: one }, { url: 'ftp://x' }], 400, /^endpoints\.1\.url is "ftp:\/\/x"/],
    [[{ url: 'http://10.0.0.1/' }], 403, /^endpoints\.0\.url is .* not a public address/],
    [
      [{ url: `https://example.com/${'x'.repeat(2_048)}` }],
      400,
      /^endpoints\.0\.url has 2068 characters; allowed are 2048\.$/,
    ],
    [[{ url: one, name: '' }], 400, /^endpoints\.0\.name: /],
    [[{ url: one, name: 'ünï' }], 400, /^endpoints\.0\.name is "ünï"; allowed are/],
    [[{ url: one, name: 'a\nb' }], 400, /^endpoints\.0\.name is/],
    [[{ url: one }, { url: one }], 400, /^endpoints\.1 is there twice, by its url\.$/],
    [
      [
        { url: one, name: 'same' },
        { url: two, name: 'same' },
      ],
      400,
      /^endpoints\.1 is there twice, by its name\.$/,
    ],
    [
      Array.from({ length: 101 }, (_, number) => ({ url: `https://example.com/${number}` })),
      412,
      /would have 101 endpoints, but the account's limit max_endpoints_per_topic is 100\.$/,
    ],
  ])('with the endpoints %j is refused, and makes none', async (endpoints, status, says) => {
    const name = groupName();
    const answer = await api('POST', `/v2/topics/${name}/endpoints`, { body: { endpoints } });
    expect([answer.status, errorOf(answer)]).toEqual([status, expect.stringMatching(says)]);
    expect((await api('GET', `/v2/topics/${name}`)).status).toBe(404);
  });

  it('that is not JSON is refused', async () => {
    const answer = await api('POST', `/v2/topics/${groupName()}/endpoints`);
    expect([answer.status, errorOf(answer)]).toEqual([400, 'The body is not JSON.']);
  });

  it.each(['not$a$name', 'b%C3%BCcher', 'x'.repeat(129), 'a%20b'])('named %s is refused', async (name) => {
    const answer = await api('POST', `/v2/topics/${name}/endpoints`, { body: { endpoints: [{ url: one }] } });
    expect([answer.status, errorOf(answer)]).toEqual([
      400,
      expect.stringMatching(/^The name of the URL group is .*; allowed are 1 to 128 letters/),
    ]);
  });

  it('does not add the rest if the group would be too large', async () => {
    const urls = Array.from({ length: 100 }, (_, number) => ({ url: `https://example.com/${number}` }));
    const name = await makeGroup(urls);
    const answer = await api('POST', `/v2/topics/${name}/endpoints`, { body: { endpoints: [{ url: one }] } });
    expect([answer.status, errorOf(answer)]).toEqual([412, expect.stringContaining('would have 101')]);
    await addEndpoints(name, [{ url: 'https://example.com/7', name: 'seven' }]);
    expect(await endpointsOf(name)).toHaveLength(100);
  });

  it('accepts null for omitted fields of an endpoint', async () => {
    const name = groupName();
    await ok(
      api('POST', `/v2/topics/${name}/endpoints`, { body: { endpoints: [{ url: one, name: null }] } }),
    );
    await addEndpoints(name, [{ url: two, name: 'second' }]);
    expect(await endpointsOf(name)).toEqual([{ url: one }, { url: two, name: 'second' }]);
    await ok(removeEndpoints(name, [{ url: null, name: 'second' }]));
    expect(await endpointsOf(name)).toEqual([{ url: one }]);
    const unnamed = await removeEndpoints(name, [{ url: null, name: null }]);
    expect([unnamed.status, errorOf(unnamed)]).toEqual([400, expect.stringMatching(/neither url nor name/)]);
  });

  it.each<[method: string, path: string, body?: unknown]>([
    ['GET', ''],
    ['PATCH', '', { headers: {} }],
    ['DELETE', '/endpoints', { endpoints: [{ url: one }] }],
  ])('%s of an unknown group%s is a 404', async (method, path, body) => {
    const answer = await api(method, `/v2/topics/${groupName()}${path}`, { body });
    expect([answer.status, errorOf(answer)]).toEqual([404, expect.stringMatching(/^There is no URL group /)]);
  });

  it.each<[method: string, path: string, body?: unknown]>([
    ['GET', ''],
    ['PATCH', '', { headers: {} }],
    ['DELETE', ''],
    ['POST', '/endpoints', { endpoints: [{ url: one }] }],
    ['DELETE', '/endpoints', { endpoints: [{ url: one }] }],
  ])('%s of what can be no name of a group%s is a 400', async (method, path, body) => {
    for (const name of ['x'.repeat(129), '%60']) {
      const answer = await api(method, `/v2/topics/${name}${path}`, { body });
      const says = /^The name of the URL group is "[x`.]+"; allowed are 1 to 128 letters/;
      expect([answer.status, errorOf(answer)]).toEqual([400, expect.stringMatching(says)]);
    }
  });

  it.each<[keys: unknown, status: number, says: RegExp]>([
    [[{ url: two }], 404, /has no endpoint "https:\/\/example\.com\/two"\.$/],
    [[{ name: 'second' }], 404, /has no endpoint "second"\.$/],
    [[{ url: two, name: 'first' }], 404, /has no endpoint "first"\.$/],
    [[{}], 400, /^endpoints\.0 has neither url nor name/],
    [[], 400, /^endpoints: /],
  ])('to remove %j is refused, and removes nothing', async (keys, status, says) => {
    const name = await makeGroup([{ url: one, name: 'first' }]);
    const answer = await api('DELETE', `/v2/topics/${name}/endpoints`, { body: { endpoints: keys } });
    expect([answer.status, errorOf(answer)]).toEqual([status, expect.stringMatching(says)]);
    expect(await endpointsOf(name)).toEqual([{ url: one, name: 'first' }]);
  });
});
