import { describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { changeAccount, makeAccount, manage } from '../support/accounts.ts';
import { api, ok, query, unique } from '../support/api.ts';
import { checkAnswer } from '../support/contract.ts';
import { errorOf, publish } from '../support/publish.ts';

const entry = z.strictObject({
  time: z.number(),
  actor: z.string(),
  action: z.string(),
  subject: z.optional(z.string()),
  address: z.optional(z.string()),
});
const page = z.strictObject({ cursor: z.optional(z.string()), entries: z.array(entry) });

async function read(token: string, filters: Parameters<typeof query>[0] = {}): Promise<z.infer<typeof page>> {
  const answer = await api('GET', `/v2/audit${query(filters)}`, { token });
  if (answer.status !== 200) throw new Error(errorOf(answer));
  checkAnswer('GET /v2/audit', answer);
  return page.parse(answer.json);
}

/** Who did what to what, the oldest first. */
const told = async (token: string, filters: Parameters<typeof query>[0] = {}) =>
  (await read(token, filters)).entries
    .map(({ actor, action, subject }) => [actor, action, subject])
    .reverse();

const later = 'https://example.com/later';

describe('the audit trail', () => {
  it('tells who changed what, by which token or as the operator, and from where', async () => {
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
    expect(JSON.stringify(entries)).not.toMatch(/secret|example\.com/);
  });

  it('has nothing of what was refused, nor of what was read or published', async () => {
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

  it('is filtered and read page by page, by the read-only token too, and by no other account', async () => {
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
    ['fromDate=9&toDate=8', 'fromDate is 9'],
    ['count=0', 'count is "0"'],
    ['count=101', 'count is "101"'],
    ['action=queue.destroy', 'action is "queue.destroy"'],
    ['actor=', 'actor is empty'],
    ['cursor=nonsense', 'cursor is not one'],
    ['user=1', '"user" is not a parameter'],
  ])('answers 400 to %s', async (text, part) => {
    const answer = await api('GET', `/v2/audit?${text}`);
    expect([answer.status, errorOf(answer)]).toEqual([400, expect.stringContaining(part) as unknown]);
  });
});
