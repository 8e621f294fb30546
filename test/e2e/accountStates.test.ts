import { beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import {
  basic,
  changeAccount,
  makeAccount,
  manage,
  publishAs,
  recordOf,
  type AccountRecord,
} from '../support/accounts.ts';
import { api } from '../support/api.ts';
import { eventually } from '../support/eventually.ts';
import { call, errorOf, messageIdOf, refusalOf, service, type Answer } from '../support/publish.ts';
import { clockStage } from '../support/clockStage.ts';
import type { Stage } from '../support/stage.ts';
import { useReceiver } from '../support/useReceiver.ts';
import { expectRefusal } from '../support/refusals.ts';

const receiver = useReceiver();

const refusal = (answer: Answer) => [answer.status, errorOf(answer)];

describe('a suspended account', () => {
  it('is refused from the next request on', async () => {
    const account = await makeAccount();
    const changed = await changeAccount(account.id, { state: 'passive' });
    expect(changed).toMatchObject({ active: false, state: 'passive', modifying_state: 'suspended' });
    for (const token of [account.token, account.read_only_token]) {
      await expectRefusal(api('GET', '/v2/logs', { token }), 401, 'The account is not active.');
    }
    const again = await changeAccount(account.id, { active: true });
    expect(again).toMatchObject({ active: true, state: 'active', modifying_state: 'activated' });
    expect((await api('GET', '/v2/logs', { token: account.token })).status).toBe(200);
  });

  // On the local stage, the test below shows this with a clock that is set forward.
  it.runIf(service.target === 'deployed')(
    'has its messages held, and delivered once it is active',
    async () => {
      const account = await makeAccount();
      const [inbox, other] = [receiver.inbox(), receiver.inbox()];
      // Too long for the message to be due before the account is suspended.
      messageIdOf(await publishAs(account, inbox.url, { headers: { 'Svc-Delay': '20s' } }));
      await changeAccount(account.id, { active: false });
      // Another account’s later message is delivered first.
      messageIdOf(await publishAs(await makeAccount(), other.url, { headers: { 'Svc-Delay': '22s' } }));
      await other.received(1);
      expect(inbox.deliveries).toEqual([]);
      await changeAccount(account.id, { active: true });
      await inbox.received(1);
    },
  );
});

describe('a deleted account', () => {
  it('is refused from the next request on, and is shown with the time of its end', async () => {
    const account = await makeAccount();
    const deleted = recordOf(await manage('DELETE', `/v2/svc/users/${account.id}`));
    expect(deleted).toMatchObject({ active: false, state: 'deleted', modifying_state: 'deleted' });
    expect(Math.abs(Number(deleted['deletion_time']) - Date.now() / 1000)).toBeLessThan(60);
    await expectRefusal(api('GET', '/v2/logs', { token: account.token }), 401, 'The account is not active.');
    expect(recordOf(await manage('GET', `/v2/svc/users/${account.id}`)).state).toBe('deleted');
  });

  it('cannot be changed, and deleting it again changes nothing', async () => {
    const { id } = await makeAccount();
    const first = recordOf(await manage('DELETE', `/v2/svc/users/${id}`));
    const again = recordOf(await manage('DELETE', `/v2/svc/users/${id}`));
    expect(again['deletion_time']).toBe(first['deletion_time']);
    const gone = [404, `The account "${id}" was deleted.`];
    expect(refusal(await manage('PATCH', `/v2/svc/users/${id}`, { body: { active: true } }))).toEqual(gone);
    expect(refusal(await manage('POST', `/v2/svc/rotate-token/${id}`))).toEqual(gone);
    const taken = await manage('POST', '/v2/svc/users', { body: { id } });
    expect(taken.status).toBe(409);
  });
});

describe('an account of another region', () => {
  it('is refused here with a sentence that names its region', async () => {
    const account = await makeAccount({ region: service.otherRegion });
    expect(account.region).toBe(service.otherRegion);
    const inbox = receiver.inbox();
    const answer = await eventually(
      () => publishAs(account, inbox.url),
      // The row takes a moment to reach another region.
      (given) => errorOf(given) !== 'The token is not valid.',
    );
    expect([answer.status, refusalOf(answer)]).toEqual([
      401,
      {
        error: `The token belongs to the region ${service.otherRegion}; this is ${service.region}.`,
        code: 'wrong_region',
      },
    ]);
    expect(inbox.deliveries).toHaveLength(0);
  });

  it.runIf(service.otherUrl !== undefined)('sends messages there, with that region’s name', async () => {
    const account = await makeAccount({ region: service.otherRegion });
    const inbox = receiver.inbox();
    messageIdOf(
      await publishAs(account, inbox.url, {
        ...(service.otherUrl !== undefined && { url: service.otherUrl }),
      }),
    );
    const [delivery] = await inbox.received(1);
    expect(delivery?.headers['svc-region']).toBe(service.otherRegion);
  });

  it('may move here with its tokens', async () => {
    const account = await makeAccount({ region: service.otherRegion });
    const moved = await changeAccount(account.id, { region: service.region });
    expect(moved).toEqual({ ...account, region: service.region });
    const inbox = receiver.inbox();
    messageIdOf(await publishAs(account, inbox.url));
    await inbox.received(1);
  });
});

describe.runIf(service.target === 'local')('with a separate stage', () => {
  const hourMs = 3_600_000;
  let stage: Stage;
  beforeAll(async () => {
    stage = await clockStage();
  });

  const make = (fields: Readonly<Record<string, unknown>> = {}): Promise<AccountRecord> =>
    makeAccount({ region: 'eu-central-1', ...fields }, stage.management);
  const change = (id: string, fields: Readonly<Record<string, unknown>>): Promise<AccountRecord> =>
    changeAccount(id, fields, stage.management);
  const send = (
    account: AccountRecord,
    method: string,
    path: string,
    headers: Record<string, string> = {},
  ): Promise<Answer> =>
    call(path, { method, headers: { authorization: `Bearer ${account.token}`, ...headers } }, stage.url);

  it('the schedules of a suspended account do not fire, and continue without catching up', async () => {
    const account = await make();
    const inbox = receiver.inbox();
    const cron = { 'Svc-Cron': '0 * * * *', 'Svc-Schedule-Id': 'hourly' };
    expect((await send(account, 'POST', `/v2/schedules/${inbox.url}`, cron)).status).toBe(200);
    await stage.advance(hourMs);
    await inbox.received(1);
    await change(account.id, { active: false });
    await stage.advance(3 * hourMs);
    await change(account.id, { active: true });
    expect(inbox.deliveries).toHaveLength(1);
    await stage.advance(hourMs);
    await inbox.received(2);
    // Other tests let weeks pass, in which it would fire every hour.
    await send(account, 'DELETE', '/v2/schedules/hourly');
  });

  it('held messages outlive the time that their retries would have taken, and a deleted account’s are not delivered', async () => {
    const [account, deleted] = [await make(), await make()];
    const [inbox, none] = [receiver.inbox(), receiver.inbox()];
    // Stored in the message’s row, in a separate row, and in S3.
    const sizes = [5, 3_000, 20_000];
    for (const size of sizes) {
      const body = 'x'.repeat(size);
      messageIdOf(
        await publishAs(account, inbox.url, { url: stage.url, body, headers: { 'Svc-Delay': '1m' } }),
      );
    }
    messageIdOf(await publishAs(deleted, none.url, { url: stage.url, headers: { 'Svc-Delay': '1m' } }));
    await change(account.id, { active: false });
    await manage('DELETE', `/v2/svc/users/${deleted.id}`, { management: stage.management });
    // SQS keeps a message for 14 days.
    await stage.advance(15 * 24 * hourMs);
    expect([inbox.deliveries, none.deliveries]).toEqual([[], []]);
    await change(account.id, { active: true });
    const deliveries = await inbox.received(3);
    expect(new Set(deliveries.map(({ body }) => body.length))).toEqual(new Set(sizes));
    expect(none.deliveries).toEqual([]);
  });

  it('a deleted account rests, and is restored with all that it had', async () => {
    const account = await make();
    const inbox = receiver.inbox();
    const [daily, named] = [{ 'Svc-Cron': '0 0 * * *', 'Svc-Schedule-Id': 'daily' }, '/v2/svc/users'];
    expect((await send(account, 'POST', `/v2/schedules/${inbox.url}`, daily)).status).toBe(200);
    const queued = {
      url: stage.url,
      path: `/v2/enqueue/orders/${inbox.url}`,
      headers: { 'Svc-Delay': '1h' },
    };
    messageIdOf(await publishAs(account, inbox.url, queued));
    const body = { name: '東京', scope: 'read' };
    const { management } = stage;
    const at = `${named}/${account.id}`;
    const { token } = z
      .object({ token: z.string() })
      .parse((await manage('POST', `${at}/tokens`, { management, body })).json);
    const restore = () => manage('POST', `${at}/restore`, { management });
    await manage('DELETE', at, { management });
    await stage.advance(6 * 24 * hourMs);
    await expectRefusal(send(account, 'GET', '/v2/schedules'), 401, 'The account is not active.');
    expect(inbox.deliveries).toEqual([]);
    const [first, second] = await Promise.all([restore(), restore()]);
    expect(recordOf(first)).toEqual(recordOf(second));
    expect(recordOf(first)).toMatchObject({
      ...{ active: true, state: 'active', deletion_time: 0 },
      ...{ token: account.token, modifying_state: 'activated' },
    });
    await inbox.received(1);
    await stage.advance(24 * hourMs);
    await inbox.received(2);
    expect((await send({ ...account, token }, 'GET', '/v2/schedules')).status).toBe(200);
    await send(account, 'DELETE', '/v2/schedules/daily');
  });

  it('dead letters are kept for max_dlq_retention_time_milis', async () => {
    const account = await make({ max_dlq_retention_time_milis: hourMs });
    const inbox = receiver.inbox((_delivery, response) => response.writeHead(500).end());
    messageIdOf(await publishAs(account, inbox.url, { url: stage.url, headers: { 'Svc-Retries': '0' } }));
    const page = z.object({ messages: z.array(z.unknown()) });
    const dlq = async (): Promise<number> =>
      page.parse((await send(account, 'GET', '/v2/dlq')).json).messages.length;
    await eventually(dlq, (count) => count === 1);
    await stage.advance(hourMs - 60_000);
    expect(await dlq()).toBe(1);
    await stage.advance(120_000);
    expect(await dlq()).toBe(0);
  });

  it('wrong passwords are checked ten times in 15 minutes', async () => {
    const { management } = stage;
    const guess = (password: string): Promise<Answer> =>
      manage('GET', '/v2/svc/users', { management, authorization: basic(management.user, password) });
    const statuses: number[] = [];
    for (let number = 0; number < 12; number += 1) statuses.push((await guess(`guess-${number}`)).status);
    expect(statuses.slice(0, 9)).toEqual(Array.from({ length: 9 }, () => 401));
    expect(statuses.slice(-2)).toEqual([429, 429]);
    const right = await guess(management.password);
    await expectRefusal(
      right,
      429,
      /^There were 10 wrong user names or passwords from this address; the next attempt/,
    );
    expect(refusalOf(right).code).toBe('login_limit_reached');
    expect(Number(right.headers.get('retry-after'))).toBeGreaterThan(0);
    await stage.advance(hourMs / 4);
    expect((await guess(management.password)).status).toBe(200);
  });
});
