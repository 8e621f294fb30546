import { describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { makeAccount } from '../support/accounts.ts';
import { api, ok } from '../support/api.ts';
import { checkAnswer } from '../support/contract.ts';
import { eventually } from '../support/eventually.ts';
import { messageIdOf, refusalOf, service, type Answer } from '../support/publish.ts';
import { useReceiver } from '../support/useReceiver.ts';

const receiver = useReceiver();
const somewhere = 'https://example.com/alarms';

const put = (token: string, body: unknown): Promise<Answer> => api('PUT', '/v2/alarms', { token, body });
const get = async (token: string): Promise<unknown> => {
  const answer = await api('GET', '/v2/alarms', { token });
  checkAnswer('GET /v2/alarms', answer);
  return answer.json;
};

const all = {
  url: 'https://me:secret@example.com/alarms',
  format: 'pagerduty',
  routingKey: 'R'.repeat(32),
  headers: { Authorization: 'Bearer secret', 'X-Team': ['a', 'b'] },
  deadLetters: { above: 10, minutes: 15 },
  hosts: true,
  schedules: true,
  runs: false,
  limits: 80,
  quietHours: { from: '22:00', to: '07:00', timezone: 'europe/berlin' },
};

describe('alarms', () => {
  it('are set, shown without their URL’s credentials, changed, and removed', async () => {
    const { token } = await makeAccount();
    expect(await get(token)).toEqual({ open: [] });
    const answer = await put(token, all);
    checkAnswer('PUT /v2/alarms', answer);
    const shown = {
      settings: {
        ...all,
        url: somewhere,
        headers: { Authorization: ['Bearer secret'], 'X-Team': ['a', 'b'] },
        quietHours: { ...all.quietHours, timezone: 'Europe/Berlin' },
      },
      open: [],
    };
    expect(answer).toMatchObject({ status: 200, json: shown });
    expect(await get(token)).toEqual(shown);

    const { status } = await put(token, { url: somewhere, format: 'slack', limits: null, hosts: true });
    expect(status).toBe(200);
    expect(await get(token)).toEqual({
      settings: { url: somewhere, format: 'slack', hosts: true },
      open: [],
    });

    for (let times = 0; times < 2; times += 1) {
      const deleted = await api('DELETE', '/v2/alarms', { token });
      checkAnswer('DELETE /v2/alarms', deleted);
      expect(deleted.status).toBe(200);
    }
    expect(await get(token)).toEqual({ open: [] });
  });

  it('are shown without secrets to a read-only token, which cannot change them', async () => {
    const account = await makeAccount();
    await put(account.token, all);
    expect(await get(account.read_only_token)).toMatchObject({
      settings: {
        url: 'https://example.com/…',
        routingKey: '…',
        headers: { Authorization: ['…'], 'X-Team': ['…', '…'] },
      },
    });
    for (const [method, path] of [
      ['PUT', '/v2/alarms'],
      ['DELETE', '/v2/alarms'],
      ['POST', '/v2/alarms/test'],
    ] as const) {
      const refused = await api(method, path, { token: account.read_only_token });
      expect(refusalOf(refused).code).toBe('token_read_only');
    }
  });

  const json = { url: somewhere, format: 'json', hosts: true };
  const quiet = (hours: object) => ({ ...json, quietHours: { ...all.quietHours, ...hours } });
  it.each([
    ['a list', [], 'body_invalid', 'The body'],
    ['a URL group', { ...json, url: 'orders' }, 'destination_invalid', 'url is "orders"'],
    ['an address of the network', { ...json, url: 'http://10.0.0.7/' }, 'destination_not_allowed', 'url is'],
    ['the service', { ...json, url: service.url }, 'delivery_loop', 'url is'],
    ['an unknown format', { ...json, format: 'teams' }, 'field_invalid', 'format'],
    ['an unknown field', { ...json, disks: true }, 'field_unknown', 'disks'],
    ['no routing key', { ...json, format: 'pagerduty' }, 'field_invalid', 'routingKey is missing'],
    ['a short one', { ...all, routingKey: 'R' }, 'field_invalid', 'routingKey'],
    ['a broken header', { ...json, headers: { 'x y': '1' } }, 'field_invalid', 'headers.x y'],
    ['the service’s header', { ...json, headers: { Host: 'x' } }, 'field_invalid', 'headers.host'],
    ['long headers', { ...json, headers: { x: 'y'.repeat(5_000) } }, 'field_invalid', 'headers have 5001'],
    ['no alarm', { ...json, hosts: false }, 'body_invalid', 'no alarm'],
    [
      'too many',
      { ...json, deadLetters: { above: 1_001, minutes: 5 } },
      'field_invalid',
      'deadLetters.above: Invalid input; allowed is a whole number from 0 to 1000.',
    ],
    ['a limit of 0 %', { ...json, limits: 0 }, 'field_invalid', 'limits'],
    ['an invalid hour', quiet({ from: '24:00' }), 'field_invalid', 'quietHours.from'],
    ['hours without length', quiet({ to: '22:00' }), 'field_invalid', 'quietHours.to'],
    ['an unknown zone', quiet({ timezone: 'Mars/Base' }), 'field_invalid', 'quietHours.timezone'],
  ])('are not changed by %s', async (_what, body, code, named) => {
    const { token } = await makeAccount();
    await put(token, json);
    const refusal = refusalOf(await put(token, body));
    expect(refusal).toMatchObject({ code, error: expect.stringContaining(named) as string });
    expect(await get(token)).toEqual({ settings: json, open: [] });
  });
});

describe('a test', () => {
  const test = (token: string): Promise<Answer> => api('POST', '/v2/alarms/test', { token });

  it('is an ordinary message with the configured headers and shape', async () => {
    const { token } = await makeAccount();
    const inbox = receiver.inbox();
    await put(token, { url: inbox.url, format: 'slack', hosts: true, headers: { 'X-Team': 'a' } });
    const answer = await test(token);
    checkAnswer('POST /v2/alarms/test', answer);
    const [delivery] = await inbox.received(1);
    expect(delivery?.headers).toMatchObject({
      'svc-message-id': messageIdOf(answer),
      'content-type': 'application/json',
      'x-team': 'a',
    });
    const { text } = z
      .object({ text: z.string() })
      .parse(JSON.parse(delivery?.body.toString('utf8') ?? '{}'));
    expect(text).toBe(':large_blue_circle: A test of the alarms');
    const logged = await api('GET', '/v2/logs?label=alarm', { token });
    checkAnswer('GET /v2/logs', logged);
    expect(JSON.stringify(logged.json)).toContain(messageIdOf(answer));
    expect(JSON.stringify(logged.json)).not.toContain('isAlarm');
  });

  it('shows no part of its webhook’s path to a read-only token, in the alarms, lists and trail', async () => {
    const account = await makeAccount();
    const failing = receiver.inbox((_delivery, response) =>
      response.writeHead(489, { 'svc-nonretryable-error': 'true' }).end('no'),
    );
    await put(account.token, { url: `${failing.url}/hush`, format: 'slack', hosts: true });
    const messageId = messageIdOf(await test(account.token));
    await eventually(
      () => api('GET', '/v2/dlq', { token: account.token }),
      ({ json }) => JSON.stringify(json).includes(messageId),
    );
    const shown = await Promise.all(
      ['/v2/alarms', '/v2/dlq', '/v2/dlq/count', `/v2/logs?messageId=${messageId}`, '/v2/audit'].map((path) =>
        ok(api('GET', path, { token: account.read_only_token })),
      ),
    );
    expect(shown).toMatchObject([{}, { messages: [{ url: `${receiver.origin}/…` }] }, {}, {}, {}]);
    expect(JSON.stringify(shown)).not.toContain('hush');
    await failing.received(1);
  });

  it('shows no secret in the log', async () => {
    const { token } = await makeAccount();
    await put(token, { ...all, url: receiver.inbox().url });
    const id = messageIdOf(await test(token));
    const shown = JSON.stringify(await ok(api('GET', `/v2/messages/${id}?state=ALL`, { token })));
    expect(shown).toContain('REDACTED');
    expect(shown).not.toMatch(/secret|RRRR|isAlarm/);
  });

  it('accepts no body, and is refused without alarms', async () => {
    const { token } = await makeAccount();
    expect(refusalOf(await test(token))).toMatchObject({ code: 'alarms_not_set' });
    await put(token, all);
    const refused = await api('POST', '/v2/alarms/test', { token, body: { a: 1 } });
    expect(refusalOf(refused).code).toBe('body_invalid');
  });
});
