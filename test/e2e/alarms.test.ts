import { afterAll, describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { alarmMessage } from '../../lambdas/wire/alarms.ts';
import { makeAccount } from '../support/accounts.ts';
import { api, ok } from '../support/api.ts';
import { checkAnswer } from '../support/contract.ts';
import { call, messageIdOf, publish, refusalOf, service, type Answer } from '../support/publish.ts';
import { startReceiver } from '../support/receiver.ts';
import { startStage } from '../support/stage.ts';
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
      settings: { url: somewhere, routingKey: '…', headers: { Authorization: ['…'], 'X-Team': ['…', '…'] } },
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

  it('are in the audit trail, but tests of them are not', async () => {
    const { token } = await makeAccount();
    await put(token, all);
    await put(token, { ...all, limits: 0 });
    await api('POST', '/v2/alarms/test', { token });
    await api('DELETE', '/v2/alarms', { token });
    const page = z.object({ entries: z.array(z.object({ action: z.string(), actor: z.string() })) });
    const { entries } = page.parse(await ok(api('GET', '/v2/audit', { token })));
    expect(entries.map(({ action, actor }) => `${actor} ${action}`)).toEqual([
      'token alarms.delete',
      'token alarms.save',
      'operator account.create',
    ]);
  });

  const json = { url: somewhere, format: 'json', hosts: true };
  const quiet = (hours: object) => ({ ...json, quietHours: { ...all.quietHours, ...hours } });
  it.each([
    ['no body', undefined, 'body_invalid', 'The body'],
    ['a list', [], 'body_invalid', 'The body'],
    ['no URL', { format: 'json', hosts: true }, 'field_invalid', 'url'],
    ['a URL group', { ...json, url: 'orders' }, 'destination_invalid', 'url is "orders"'],
    ['a long URL', { ...json, url: somewhere + 'x'.repeat(2_048) }, 'destination_invalid', 'url has'],
    ['an address of the network', { ...json, url: 'http://10.0.0.7/' }, 'destination_not_allowed', 'url is'],
    ['the service', { ...json, url: service.url }, 'delivery_loop', 'url is'],
    ['an unknown format', { ...json, format: 'teams' }, 'field_invalid', 'format'],
    ['an unknown field', { ...json, disks: true }, 'field_unknown', 'disks'],
    ['no routing key', { ...json, format: 'pagerduty' }, 'field_invalid', 'routingKey is missing'],
    ['a short one', { ...all, routingKey: 'R' }, 'field_invalid', 'routingKey'],
    ['one for another format', { ...all, format: 'slack' }, 'field_invalid', 'routingKey is given'],
    ['a broken header', { ...json, headers: { 'x y': '1' } }, 'field_invalid', 'headers.x y'],
    ['the service’s header', { ...json, headers: { Host: 'x' } }, 'field_invalid', 'headers.host'],
    ['long headers', { ...json, headers: { x: 'y'.repeat(5_000) } }, 'field_invalid', 'headers have 5001'],
    ['no alarm', { ...json, hosts: false }, 'body_invalid', 'no alarm'],
    ['a text for a switch', { ...json, runs: 'yes' }, 'field_invalid', 'runs'],
    ['no minutes', { ...json, deadLetters: { above: 1 } }, 'field_invalid', 'deadLetters.minutes'],
    [
      'few minutes',
      { ...json, deadLetters: { above: 1, minutes: 4 } },
      'field_invalid',
      'deadLetters.minutes',
    ],
    [
      'too many',
      { ...json, deadLetters: { above: 1_001, minutes: 5 } },
      'field_invalid',
      'deadLetters.above: Invalid input; allowed is a whole number from 0 to 1000.',
    ],
    ['a limit of 0 %', { ...json, limits: 0 }, 'field_invalid', 'limits'],
    ['a limit of 101 %', { ...json, limits: 101 }, 'field_invalid', 'limits'],
    ['an hour that is none', quiet({ from: '24:00' }), 'field_invalid', 'quietHours.from'],
    ['a time of one digit', quiet({ to: '7:00' }), 'field_invalid', 'quietHours.to'],
    ['hours without length', quiet({ to: '22:00' }), 'field_invalid', 'quietHours.to'],
    ['an unknown zone', quiet({ timezone: 'Mars/Base' }), 'field_invalid', 'quietHours.timezone'],
    ['an offset as a zone', quiet({ timezone: '+02:00' }), 'field_invalid', 'quietHours.timezone'],
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

describe.runIf(service.target === 'local')('a local stage', () => {
  const endings: (() => Promise<unknown>)[] = [];
  afterAll(async () => {
    for (const end of endings.reverse()) await end();
  });

  it('checks for alarms when it starts, and reports them', async () => {
    const told = await startReceiver();
    endings.push(() => told.close());
    const failing = told.inbox((_delivery, response) => response.writeHead(500).end());
    const inbox = told.inbox();
    const stage = await startStage();
    endings.push(() => stage.remove());
    const by = { headers: { authorization: `Bearer ${stage.token}` } };
    const body = JSON.stringify({ url: inbox.url, format: 'json', deadLetters: { above: 0, minutes: 60 } });
    expect((await call('/v2/alarms', { method: 'PUT', body, ...by }, stage.url)).status).toBe(200);
    const headers = { 'Svc-Retries': '0' };
    await publish(failing.url, { url: stage.url, token: stage.token, headers });
    await failing.received(1);
    expect(await stage.stop()).toBe(0);

    const again = await startStage({ dataDir: stage.dataDir });
    endings.push(() => again.kill());
    const [delivery] = await inbox.received(1);
    expect(alarmMessage.parse(JSON.parse(delivery?.body.toString('utf8') ?? '{}'))).toMatchObject({
      state: 'open',
      kind: 'deadLetters',
      region: 'eu-central-1',
    });
  });
});
