import { describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { api, logged, ok, unique } from '../support/api.ts';
import { addEndpoints, groupName, makeGroup, setDefaults } from '../support/groups.ts';
import { publish, service } from '../support/publish.ts';
import { useReceiver } from '../support/useReceiver.ts';
import { expectRefusal } from '../support/refusals.ts';

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

  it.each(['第一', 'a/b?c#d%20', 'it\'s "one", =1'])(
    'may have an endpoint %s, which its messages name, and which is updated and removed by its name',
    async (endpoint) => {
      const [old, inbox] = [receiver.inbox(), receiver.inbox()];
      const name = await makeGroup([{ url: old.url, name: endpoint }, { url: two }]);
      await addEndpoints(name, [{ url: inbox.url, name: endpoint }]);
      expect(await endpointsOf(name)).toEqual([{ url: inbox.url, name: endpoint }, { url: two }]);
      await publish(name);
      const [delivery] = await inbox.received(1);
      expect(delivery?.headers['svc-endpoint-name']).toBe(Buffer.from(endpoint).toString('latin1'));
      const messageId = delivery?.headers['svc-message-id'] ?? '';
      const [entry] = await logged({ messageId, state: 'DELIVERED' }, 1);
      expect(entry).toMatchObject({ endpointName: endpoint });
      await ok(removeEndpoints(name, [{ name: endpoint }]));
      expect(await endpointsOf(name)).toEqual([{ url: two }]);
    },
  );

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

  it.each<[headers: unknown, status: number, says: RegExp]>([
    [{ 'Svc-Retries': 'many' }, 400, /^Svc-Retries is "many"/],
    [{ 'X-Other': 'x' }, 400, /^headers\.x-other is not a header of the service/],
    [{ 'Svc-Forward-X': 'a\nb' }, 400, /^headers\.Svc-Forward-X is not a valid HTTP header;/],
    [{ 'Svc-Forward-X': 'x'.repeat(11_000) }, 400, /^headers have 11013 bytes; allowed are 10240\.$/],
  ])('%j are refused, and nothing is changed', async (headers, status, says) => {
    const name = await makeGroup([{ url: one }]);
    await setDefaults(name, { 'Svc-Retries': '2' });
    await expectRefusal(api('PATCH', `/v2/topics/${name}`, { body: { headers } }), status, says);
    expect((await getGroup(name)).headers).toEqual({ 'Svc-Retries': ['2'] });
  });
});

describe('a webhook’s sender, which can only set the URL,', () => {
  const token = `svc_token=${encodeURIComponent(service.token)}`;
  const webhook = { token: null, body: '{"event":"paid"}', headers: { 'X-Hub-Signature': 'abc' } };

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
    [[], 400, /^endpoints: .*at least one endpoint/],
    [[{ url: one }, { url: 'ftp://x' }], 400, /^endpoints\.1\.url is "ftp:\/\/x"/],
    [[{ url: 'http://10.0.0.1/' }], 403, /^endpoints\.0\.url is .* not a public address/],
    [
      [{ url: `https://example.com/${'x'.repeat(2_048)}` }],
      400,
      /^endpoints\.0\.url has 2068 characters; allowed are 2048\.$/,
    ],
    [[{ url: one, name: '京'.repeat(129) }], 400, /^endpoints\.0\.name: /],
    [[{ url: one, name: ' first' }], 400, /^endpoints\.0\.name: it is not 1 to 128 printable/],
    [[{ url: one, name: 'a\u2028b' }], 400, /^endpoints\.0\.name: /],
    [[{ url: one }, { url: one }], 400, /^endpoints\.1 is there twice, by its url\.$/],
    [
      [
        { url: one, name: 'same' },
        { url: two, name: 'same' },
      ],
      400,
      /^endpoints\.1 is there twice, by its name\.$/,
    ],
  ])('with the endpoints %j is refused, and makes none', async (endpoints, status, says) => {
    const name = groupName();
    await expectRefusal(api('POST', `/v2/topics/${name}/endpoints`, { body: { endpoints } }), status, says);
    expect((await api('GET', `/v2/topics/${name}`)).status).toBe(404);
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
    await expectRefusal(removeEndpoints(name, [{ url: null, name: null }]), 400, /neither url nor name/);
  });

  it.each<[name: string, status: number, says: RegExp]>([
    ['missing', 404, /^There is no URL group "missing"/],
    ['x'.repeat(129), 400, /^The name of the URL group is "[x.]+"; allowed are 1 to 128 letters/],
    ['%60', 400, /^The name of the URL group is "`"/],
  ])('named %s is refused', async (name, status, says) => {
    const body = { endpoints: [{ url: one }] };
    for (const [method, path, sent] of [
      ['GET', '', undefined],
      ['PATCH', '', { headers: {} }],
      ['DELETE', '/endpoints', body],
      ...(status === 400 ? [['DELETE', '', undefined] as const, ['POST', '/endpoints', body] as const] : []),
    ] as const) {
      await expectRefusal(api(method, `/v2/topics/${name}${path}`, { body: sent }), status, says);
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
    await expectRefusal(
      api('DELETE', `/v2/topics/${name}/endpoints`, { body: { endpoints: keys } }),
      status,
      says,
    );
    expect(await endpointsOf(name)).toEqual([{ url: one, name: 'first' }]);
  });
});
