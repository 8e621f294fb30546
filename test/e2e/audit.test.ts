import { describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { changeAccount, makeAccount, manage } from '../support/accounts.ts';
import { api, ok, query, unique } from '../support/api.ts';
import { checkAnswer } from '../support/contract.ts';
import { errorOf, publish } from '../support/publish.ts';
import { expectRefusal } from '../support/refusals.ts';

const entry = z.looseObject({
  ...{ time: z.number(), actor: z.string(), action: z.string() },
  ...{ subject: z.optional(z.string()), address: z.optional(z.string()) },
  ...{ count: z.optional(z.number()), number: z.optional(z.number()) },
  changes: z.optional(
    z.array(z.object({ field: z.string(), before: z.optional(z.string()), after: z.optional(z.string()) })),
  ),
});
const page = z.strictObject({ cursor: z.optional(z.string()), entries: z.array(entry) });

async function read(token: string, filters: Parameters<typeof query>[0] = {}): Promise<z.infer<typeof page>> {
  const answer = await api('GET', `/v2/audit${query(filters)}`, { token });
  if (answer.status !== 200) throw new Error(errorOf(answer));
  checkAnswer('GET /v2/audit', answer);
  return page.parse(answer.json);
}

/** Returns who did what to what, the oldest first. */
const told = async (token: string, filters: Parameters<typeof query>[0] = {}) =>
  (await read(token, filters)).entries
    .map(({ actor, action, subject }) => [actor, action, subject])
    .reverse();

const later = 'https://example.com/later';

describe('the audit trail', () => {
  it('shows who changed what, by which token or as the operator, and from where', async () => {
    const account = await makeAccount();
    const { token } = account;
    const made = z
      .object({ id: z.string(), token: z.string() })
      .parse(
        await ok(
          manage('POST', `/v2/svc/users/${account.id}/tokens`, { body: { name: 'x', scope: 'full' } }),
          201,
        ),
      );
    const by = { token: made.token };
    const cron = { headers: { 'Svc-Cron': '0 0 1 1 *' } };
    const scheduled = z.object({ scheduleId: z.string() });
    const { scheduleId } = scheduled.parse(
      await ok(api('POST', `/v2/schedules/${later}`, { token, ...cron })),
    );
    await ok(
      api('POST', `/v2/schedules/${later}`, {
        token,
        headers: { ...cron.headers, 'Svc-Schedule-Id': 'nightly' },
      }),
    );
    await ok(api('POST', '/v2/queues', { token, body: { queueName: 'mail' } }));
    await ok(api('POST', '/v2/queues/mail/pause', by));
    await ok(api('POST', '/v2/topics/orders/endpoints', { ...by, body: { endpoints: [{ url: later }] } }));
    await publish(later, {
      token,
      headers: { 'Svc-Delay': '1h', 'Svc-Flow-Control-Key': 'a/b', 'Svc-Flow-Control-Value': 'rate=9' },
    });
    await ok(api('POST', '/v2/flowControl/a%2Fb/pause', by));
    await ok(
      api('DELETE', `/v2/messages${query({ queueName: 'mail', url: 'https://example.com/?key=secret' })}`, {
        token,
      }),
    );
    await ok(api('POST', '/v2/keys/rotate', { token }));
    await changeAccount(account.id, { budget: 7, max_queues: 12 });
    await ok(manage('DELETE', `/v2/svc/users/${account.id}/tokens/${made.id}`));

    const { entries } = await read(token);
    expect(entries.map(({ actor, action, subject }) => [actor, action, subject]).reverse()).toEqual([
      ['operator', 'account.create', undefined],
      ['operator', 'token.create', made.id],
      ['token', 'schedule.save', scheduleId],
      ['token', 'schedule.save', 'nightly'],
      ['token', 'queue.save', 'mail'],
      [made.id, 'queue.pause', 'mail'],
      [made.id, 'urlGroup.addEndpoints', 'orders'],
      [made.id, 'flowControl.pause', 'a/b'],
      ['token', 'messages.cancel', 'queueName=mail url=…'],
      ['token', 'keys.rotate', undefined],
      ['operator', 'account.change', 'budget, max_queues'],
      ['operator', 'token.revoke', made.id],
    ]);
    for (const { address, time } of entries) {
      expect(address).toMatch(/^[\d.:a-f]+$/);
      expect(Math.abs(time - Date.now())).toBeLessThan(3_600_000);
    }
    expect(JSON.stringify(entries)).not.toMatch(/secret/);
  });

  it('shows what was changed: before and after, how many, and with which settings', async () => {
    const account = await makeAccount();
    const { token } = account;
    const [group, queueName] = [unique('group'), unique('queue')];
    const cron = (text: string, more: Readonly<Record<string, string>> = {}) =>
      ok(
        api('POST', `/v2/schedules/${later}`, {
          token,
          headers: { 'Svc-Cron': text, 'Svc-Schedule-Id': 'nightly', ...more },
          body: { of: text },
        }),
      );
    await cron('0 0 1 1 *', {
      'Svc-Forward-Authorization': 'Bearer hush',
      'Svc-Callback': 'https://user:hush@example.com/told?k=hush',
      'Svc-Callback-Retries': '2',
      'Svc-Callback-Forward-X-Key': 'hush',
    });
    await ok(
      api('PATCH', '/v2/schedules/nightly', {
        token,
        body: { destination: 'https://user:hush@example.com/other?k=hush', headers: { 'Svc-Retries': '1' } },
      }),
    );
    await ok(api('POST', '/v2/schedules/nightly/pause', { token }));
    await ok(api('DELETE', '/v2/schedules/nightly', { token }));
    for (const parallelism of [2, 3, 4])
      await ok(api('POST', '/v2/queues', { token, body: { queueName, parallelism } }));
    await ok(api('POST', `/v2/queues/${queueName}/resume`, { token }));
    const endpoints = [{ url: `${later}?hush` }];
    await ok(api('POST', `/v2/topics/${group}/endpoints`, { token, body: { endpoints } }));
    await ok(
      api('PATCH', `/v2/topics/${group}`, {
        token,
        body: {
          headers: { 'Svc-Forward-X-Key': 'hush', 'Svc-Callback': 'https://user:hush@example.com/?hush' },
        },
      }),
    );
    await publish(later, {
      token,
      headers: { 'Svc-Delay': '1h', 'Svc-Flow-Control-Key': 'k', 'Svc-Flow-Control-Value': 'rate=9' },
    });
    await ok(api('POST', '/v2/flowControl/k/pin?parallelism=2&rate=5&period=60', { token }));
    await ok(api('DELETE', `/v2/messages${query({ flowControlKey: 'k' })}`, { token }));
    await ok(
      api('POST', `/v2/dlq/retry${query({ label: 'x' })}`, { token, headers: { 'Svc-Retries': '1' } }),
      201,
    );
    await changeAccount(account.id, { budget: 7, failure_callback: 'https://example.com/hush' });
    const own = await ok(api('POST', '/v2/tokens', { token, body: { name: 'shop', scope: 'publish' } }), 201);
    const { id } = z.object({ id: z.string() }).parse(own);
    await ok(api('DELETE', `/v2/tokens/${id}`, { token }));

    const { entries } = await read(token);
    expect(JSON.stringify(entries)).not.toContain('hush');
    const changesOf = (action: string) =>
      entries
        .filter((one) => one.action === action)
        .map(({ count, number, changes = [] }) => ({
          ...{ count, number },
          fields: Object.fromEntries(changes.map(({ field, before, after }) => [field, [before, after]])),
        }));
    const told = (fields: Readonly<Record<string, readonly [string?, string?]>>, more = {}) => [
      { count: undefined, number: undefined, fields: expect.objectContaining(fields) as unknown, ...more },
    ];
    expect(changesOf('account.create')).toEqual(
      told({ id: [undefined, account.id], type: [undefined, 'paid'], state: [undefined, 'active'] }),
    );
    expect(changesOf('schedule.save')).toEqual(
      told({
        cron: [undefined, '0 0 1 1 *'],
        destination: [undefined, later],
        body: [undefined, '18 bytes'],
        'header.Authorization': [undefined, '…'],
        callback: [undefined, 'https://example.com/told?…'],
        'Svc-Callback-Retries': [undefined, '2'],
        'Svc-Callback-Forward-X-Key': [undefined, '…'],
      }),
    );
    const paid = String(5);
    expect(changesOf('schedule.change')).toEqual([
      {
        ...{ count: undefined, number: undefined },
        fields: { destination: [later, 'https://example.com/other?…'], retries: [paid, '1'] },
      },
    ]);
    expect(changesOf('schedule.pause')).toEqual(told({ isPaused: ['false', 'true'] }));
    expect(changesOf('schedule.delete')).toEqual(told({ cron: ['0 0 1 1 *', undefined] }));
    // Repetitions within a minute are one entry, unless a new minute has begun.
    const saves = changesOf('queue.save').toReversed();
    expect(saves[0]?.fields['paused']).toEqual([undefined, 'false']);
    expect(saves[0]?.fields['parallelism']?.[0]).toBeUndefined();
    expect(saves.at(-1)?.fields['parallelism']?.[1]).toBe('4');
    expect(changesOf('queue.resume')).toEqual([{ count: undefined, number: undefined, fields: {} }]);
    expect(changesOf('urlGroup.addEndpoints')).toEqual(
      told({ [`endpoints.${later}?…`]: [undefined, `${later}?…`] }),
    );
    expect(changesOf('urlGroup.change')).toEqual(
      told({
        'headers.Svc-Forward-X-Key': [undefined, '…'],
        'headers.Svc-Callback': [undefined, 'https://example.com/?…'],
      }),
    );
    expect(changesOf('flowControl.pin')).toEqual(
      told({ parallelism: [undefined, '2'], rate: ['9', '5'], period: ['1', '60'] }),
    );
    expect(changesOf('messages.cancel')).toEqual(told({}, { number: 1 }));
    expect(changesOf('dlq.retry')).toEqual(told({ 'Svc-Retries': [undefined, '1'] }, { number: 0 }));
    expect(changesOf('account.change')).toEqual(
      told({ budget: ['0', '7'], failure_callback: [undefined, '…'] }),
    );
    expect(changesOf('token.create')).toEqual(
      told({ name: [undefined, 'shop'], scope: [undefined, 'publish'] }),
    );
    expect(changesOf('token.revoke')).toEqual(told({ name: ['shop', undefined] }));
  });

  it('has no entries for refused changes, reads or publishes', async () => {
    const { token, read_only_token } = await makeAccount();
    const before = await told(token);
    await ok(api('GET', '/v2/queues', { token }));
    await publish(later, { token, headers: { 'Svc-Delay': '1h' } });
    for (const [given, method, path, body] of [
      [token, 'POST', '/v2/queues/nothing/pause', undefined],
      [token, 'POST', '/v2/queues', { queueName: 'not a name' }],
      [token, 'POST', '/v2/queues', { queueName: 'mail', parallelism: 0 }],
      [token, 'DELETE', '/v2/schedules/nothing', undefined],
      [token, 'PATCH', '/v2/queues', undefined],
      [read_only_token, 'POST', '/v2/keys/rotate', undefined],
    ] as const) {
      const { status } = await api(method, path, { token: given, body });
      expect(status).toBeGreaterThanOrEqual(400);
      expect(status).toBeLessThan(500);
    }
    expect(await told(token)).toEqual(before);
  });

  it('is filtered and paged, even with the read-only token, but not by another account', async () => {
    const { token, read_only_token } = await makeAccount();
    const names = [unique('a'), unique('b'), unique('c')];
    for (const queueName of names) {
      await ok(api('POST', '/v2/queues', { token, body: { queueName } }));
      await ok(api('POST', `/v2/queues/${queueName}/pause`, { token }));
    }
    const saved = names.map((name) => ['token', 'queue.save', name]);
    expect(await told(read_only_token, { action: 'queue.save' })).toEqual(saved);
    expect(await told(token, { action: 'queue.save,queue.pause', subject: names[1] })).toEqual([
      ['token', 'queue.save', names[1]],
      ['token', 'queue.pause', names[1]],
    ]);
    expect(await told(token, { actor: 'operator' })).toEqual([['operator', 'account.create', undefined]]);
    expect(await told(token, { actor: 'readOnlyToken' })).toEqual([]);
    expect(await told(token, { fromDate: Date.now() + 60_000 })).toEqual([]);

    const all = (await read(token)).entries;
    expect(all).toHaveLength(7);
    const paged: z.infer<typeof entry>[] = [];
    let cursor: string | undefined;
    do {
      const next = await read(token, { count: 2, cursor });
      expect(next.entries.length).toBeLessThanOrEqual(2);
      paged.push(...next.entries);
      cursor = next.cursor;
    } while (cursor !== undefined);
    expect(paged).toEqual(all);

    const other = await makeAccount();
    expect(await told(other.token)).toEqual([['operator', 'account.create', undefined]]);
  });

  it.each([
    ['fromDate=x', 'fromDate is "x"'],
    ['count=101', 'count is "101"'],
    ['action=queue.destroy', 'action is "queue.destroy"'],
    ['cursor=nonsense', 'cursor is not one'],
    ['user=1', '"user" is not a parameter'],
  ])('answers 400 to %s', async (text, part) => {
    await expectRefusal(api('GET', `/v2/audit?${text}`), 400, part);
  });
});

describe('the entry of saved alarms', () => {
  it('says what changed, without secrets', async () => {
    const { token } = await makeAccount();
    const save = (settings: object) => ok(api('PUT', '/v2/alarms', { token, body: settings }));
    const first = {
      url: 'https://hooks.example.com/services/secret1',
      format: 'slack',
      headers: { 'X-Key': 'secret2' },
      hosts: true,
      quietHours: { from: '22:00', to: '07:00', timezone: 'Europe/Berlin' },
    };
    await save(first);
    const [made] = (await read(token, { action: 'alarms.save' })).entries;
    expect(made?.changes).toContainEqual({ field: 'quietHours.from', after: '22:00' });
    await save({
      ...first,
      url: 'https://hooks.example.com/services/secret3',
      headers: { 'X-Key': ['secret4', '東京'] },
      quietHours: { ...first.quietHours, from: '21:00' },
      limits: 80,
      hosts: null,
    });
    const { entries } = await read(token, { action: 'alarms.save' });
    const [entry] = entries;
    const changes = new Map(entry?.changes?.map(({ field, ...sides }) => [field, sides]));
    expect(changes.get('quietHours.from')).toEqual({ before: '22:00', after: '21:00' });
    expect(changes.get('limits')).toEqual({ after: '80' });
    expect(changes.get('hosts')).toEqual({ before: 'true' });
    expect(changes.has('format')).toBe(false);
    expect(changes.get('headers.x-key')).toEqual({ before: '…', after: '…' });
    await ok(api('DELETE', '/v2/alarms', { token }));
    const [deleted] = (await read(token, { action: 'alarms.delete' })).entries;
    expect(deleted?.changes).toContainEqual({ field: 'quietHours.from', before: '21:00' });
    expect(JSON.stringify([deleted, ...entries])).not.toMatch(/secret|東京/);
    await ok(api('DELETE', '/v2/alarms', { token }));
    expect((await read(token, { action: 'alarms.delete' })).entries[0]?.changes).toBeUndefined();
  });
});
