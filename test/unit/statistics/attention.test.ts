import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { messageOf } from '../../support/messageOf.ts';
import { imported } from '../../support/imported.ts';
import * as z from 'zod/mini';
import { newAccount, type Account } from '../../../lambdas/account/account.ts';
import { newId, shardCounts, shardOf } from '../../../lambdas/shared/ids.ts';
import { eachOf } from '../../../lambdas/shared/lists.ts';
import { requestOf, type Fixture } from '../../support/fixture.ts';
import { useFixture } from '../../support/useFixture.ts';

const used = z.object({ CapacityUnits: z.number() });

let fixture: Fixture;

let unitsRead = 0;
const billed = z.object({ ConsumedCapacity: z.union([used, z.array(used)]) });

useFixture((opened) => {
  fixture = opened;
  fixture.dynamodb.middlewareStack.add(
    (next) => async (args) => {
      const result = await next({ ...args, input: { ...args.input, ReturnConsumedCapacity: 'TOTAL' } });
      const { data } = billed.safeParse(result.output);
      for (const { CapacityUnits } of [data?.ConsumedCapacity ?? []].flat()) unitsRead += CapacityUnits;
      return result;
    },
    { step: 'initialize', name: 'unitsRead' },
  );
});
const lambdas = imported(async () => ({
  ...(await import('../../../lambdas/statistics/attention.ts')),
  ...(await import('../../../lambdas/statistics/hostTimes.ts')),
  ...(await import('../../../lambdas/lane/queues.ts')),
  ...(await import('../../../lambdas/lane/flowControl.ts')),
  ...(await import('../../../lambdas/lane/ensureKeys.ts')),
  ...(await import('../../../lambdas/publish/publish.ts')),
  ...(await import('../../../lambdas/schedule/schedules.ts')),
  ...(await import('../../../lambdas/schedule/rows.ts')),
  ...(await import('../../../lambdas/aws/dynamodb.ts')),
  ...(await import('../../../lambdas/publish/cancel.ts')),
  ...(await import('../../../lambdas/deadLetter/rows.ts')),
}));

/** Stopped, because a read ends after a second. */
beforeEach(() => {
  vi.spyOn(Date, 'now').mockReturnValue(Date.now());
});

async function newOwner(): Promise<Account> {
  const { region } = fixture.settings;
  const account = newAccount({ id: randomUUID(), plan: 'paid', region, createdAt: Date.now() });
  await fixture.saveAccount(account, undefined);
  await fixture.readUsage(account);
  return account;
}

const put = (account: Account, body: object) => lambdas.putQueue(account, Buffer.from(JSON.stringify(body)));

describe('The list of things that need attention', () => {
  it('is empty in a new account, and costs three reads for each shard, one for each part of its runs, and four', async () => {
    const account = await newOwner();
    fixture.reset();
    expect(await lambdas.getAttention(account)).toMatchObject({
      hostsDown: [],
      pausedQueues: [],
      pausedKeys: [],
      failingSchedules: [],
      deadLetters: 0,
      failedRuns: 0,
      isWhole: true,
    });
    expect(fixture.operations()).toEqual({ QueryCommand: 3 * account.shards + shardCounts.usual + 4 });
  });

  it('are only the queues and schedules in trouble', async () => {
    const account = await newOwner();
    await put(account, { queueName: 'paused', paused: true });
    await put(account, { queueName: 'going' });
    for (const id of ['missed', 'paused', 'made', 'new']) {
      const config = { cron: '0 0 29 2 *', 'schedule-id': id };
      await lambdas.createSchedule(account, requestOf('https://example.com/', config));
    }
    const [time, messageIds] = [60_000, [newId('msg', Date.now())]];
    await lambdas.noteFire(account.id, 'missed', { time, messageIds: [], error: 'No group.' });
    await lambdas.noteFire(account.id, 'paused', { time, messageIds: [], error: 'No group.' });
    await lambdas.noteFire(account.id, 'made', { time, messageIds });
    await lambdas.pauseSchedule(account, 'paused', true);
    expect(await lambdas.getAttention(account)).toMatchObject({
      pausedQueues: [{ name: 'paused', waiting: 0 }],
      failingSchedules: [{ scheduleId: 'missed', firedAt: time, error: 'No group.' }],
      isWhole: true,
    });
  });

  it('costs half a read unit for each key', async () => {
    const account = await newOwner();
    const now = Date.now();
    const keys = Array.from({ length: 200 }, (_, index) => `key-${index}`);
    await Promise.all(
      keys.map((key) =>
        lambdas.ensureKeys({
          accountId: account.id,
          createdAt: now,
          notBefore: now,
          flowControl: { key, rate: 1 },
        }),
      ),
    );
    fixture.reset();
    unitsRead = 0;
    expect(await lambdas.getAttention(account)).toMatchObject({ pausedKeys: [], isWhole: true });
    expect(fixture.callsOf('BatchGetItemCommand')).toBe(2);
    expect(unitsRead).toBeGreaterThan(100);
    expect(unitsRead).toBeLessThan(150);
  });

  it('says so if there is more than it shows', async () => {
    const account = await newOwner();
    const names = Array.from({ length: 101 }, (_, index) => `queue-${index}`);
    const wide = { ...account, limits: { max_queues: 200 } };
    for (const queueName of names) await put(wide, { queueName, paused: true });
    const { pausedQueues = [], isWhole, cut } = await lambdas.getAttention(account);
    expect([pausedQueues.length, isWhole, cut]).toEqual([100, false, ['pausedQueues']]);
  });

  it('leaves out what is unknown on a machine that is too slow to look at all: it is not zero', async () => {
    const account = await newOwner();
    const now = Date.now();
    for (let index = 0; index < 400; index += 1) {
      const flowControl = { key: `東京-${index}`, rate: 1 };
      await lambdas.ensureKeys({ accountId: account.id, createdAt: now, notBefore: now, flowControl });
    }
    // Each look at the clock takes a second and a half.
    let time = Date.now();
    vi.spyOn(Date, 'now').mockImplementation(() => (time += 1_500));
    const { pausedKeys, isWhole, cut } = await lambdas.getAttention(account);
    expect([pausedKeys, isWhole, cut]).toEqual([undefined, false, ['pausedKeys']]);
  });

  it('finds failing schedules even behind the dead letters that it reads', async () => {
    const account = await newOwner();
    const now = Date.now();
    const firedAt = now - 60_000;
    for (const id of ['failed', 'waits']) {
      const request = requestOf('https://example.com/', { delay: '1h' });
      const { body } = await lambdas.publish(account, request);
      const { messageId } = z.object({ messageId: z.string() }).parse(body);
      if (id === 'failed') await lambdas.cancelMessage(account, messageId);
      const config = { cron: '0 0 29 2 *', 'schedule-id': id };
      await lambdas.createSchedule(account, requestOf('https://example.com/', config));
      await lambdas.noteFire(account.id, id, { time: firedAt, messageIds: [messageId] });
    }
    await eachOf(Array.from({ length: 1_001 }), 50, async (_, index) => {
      const at = now - index;
      await lambdas.putDeadLetter({
        dlqId: newId('dlq', at),
        message: messageOf({
          messageId: newId('msg', at),
          accountId: account.id,
          createdAt: at,
          notBefore: at,
        }),
        ...{ retried: 0, failedAt: at, responseStatus: 500, responseHeaders: [], expiresAt: now + 60_000 },
      });
    });
    expect(await lambdas.getAttention(account)).toMatchObject({
      deadLetters: 1_000,
      failingSchedules: [{ scheduleId: 'failed', firedAt }],
      cut: ['deadLetters', 'failedRuns'],
    });
  });
});

const attemptsOf = (
  account: Account,
  attempts: readonly { readonly at: number; readonly url: string; readonly status?: number }[],
) =>
  attempts.map(({ at, url, status = 200 }) => {
    const messageId = newId('msg', at);
    return {
      shard: shardOf(account.id, messageId),
      id: `${messageId}~000000`,
      recordedAt: at,
      startedAt: at - 40,
      attempt: 0,
      state: status < 300 ? 'DELIVERED' : 'RETRY',
      url,
      response: { status, headers: [], body: new Uint8Array() },
    };
  });

describe('The times of answers', () => {
  it('are read from the newest records of the log, one read of the index for each shard', async () => {
    const account = await newOwner();
    const from = Date.now() - 100_000;
    const rows = attemptsOf(
      account,
      Array.from({ length: 1_300 }, (_, index) => ({
        at: from + 10 * index,
        url: index < 200 ? 'https://old.example.com/' : 'https://new.example.com/',
      })),
    );
    await lambdas.putAll(fixture.settings.messagesTable, rows);
    fixture.reset();
    const { attempts, from: oldest = 0, hosts } = await lambdas.getHostTimes(account);
    // Up to three more look as far back for prompt records.
    expect(fixture.calls()).toBeLessThanOrEqual((1 + 3) * account.shards);
    expect(hosts).toMatchObject([{ host: 'new.example.com', attempts, failures: 0, p50: 40, p95: 40 }]);
    // All attempts since the oldest of them were read, nearly as many as possible.
    expect(attempts).toBe(rows.filter(({ recordedAt }) => recordedAt >= oldest).length);
    expect(attempts).toBeGreaterThan(700);
    expect(attempts).toBeLessThanOrEqual(1_000);
  });

  it('of a failing host are read back to its last success, with one more read of the index for each shard', async () => {
    const account = await newOwner();
    const from = Date.now() - 1_500_000;
    const down = 'https://down.example.com/hook';
    await lambdas.putAll(fixture.settings.messagesTable, [
      ...attemptsOf(account, [{ at: from, url: down }]),
      ...attemptsOf(
        account,
        Array.from({ length: 300 }, (_, index) => ({
          at: from + 1_000 * (index + 1),
          url: down,
          status: 503,
        })),
      ),
      ...attemptsOf(
        account,
        Array.from({ length: 1_000 }, (_, index) => ({
          at: from + 400_000 + 1_000 * index,
          url: index % 10 === 0 ? down : 'https://up.example.com/',
          status: index % 10 === 0 ? 503 : 200,
        })),
      ),
    ]);
    fixture.reset();
    const { hosts, lookedFrom = 0 } = await lambdas.getHostTimes(account);
    expect(fixture.calls()).toBeLessThanOrEqual(2 * (1 + 3) * account.shards);
    const host = hosts.find((one) => one.host === 'down.example.com');
    expect(host).toMatchObject({ lastSuccess: from, failingSince: from + 960, lastStatus: 503 });
    expect(host?.failures).toBe(host?.attempts);
    expect(lookedFrom).toBeGreaterThan(from + 300_000);
    const { failingHosts } = await lambdas.getAttention(account);
    expect(failingHosts).toEqual([
      {
        host: 'down.example.com',
        attempts: host?.attempts,
        failures: host?.failures,
        failingSince: from + 960,
        lastSuccess: from,
        lastStatus: 503,
      },
    ]);
  });

  it('of one host are counted over time, only as far back as requested', async () => {
    const account = await newOwner();
    const from = Date.now() - 4_800_000;
    await lambdas.putAll(
      fixture.settings.messagesTable,
      attemptsOf(
        account,
        [0, 1, 2, 3, 4].flatMap((index) =>
          ['https://a.example.com/x', 'https://b.example.com/?of=a.example.com'].map((url) => ({
            at: from + 1_000_000 * index,
            url,
            status: index > 2 ? 500 : 200,
          })),
        ),
      ),
    );
    const of = (since: number) => lambdas.getHostTime(account, 'a.example.com', String(since));
    const { attempts, hosts, steps = [], lookedFrom } = await of(from + 500_000);
    expect([attempts, hosts, lookedFrom]).toMatchObject([
      4,
      [{ host: 'a.example.com', attempts: 4, failures: 2, lastSuccess: from + 2_000_000, failuresInRow: 2 }],
      undefined,
    ]);
    expect(steps).toHaveLength(48);
    expect(steps.filter((step) => step.attempts > 0).map(({ failures }) => failures)).toEqual([0, 0, 1, 1]);
    expect((await of(from)).attempts).toBe(5);
    await expect(lambdas.getHostTime(account, 'a.example.com', 'yesterday')).rejects.toMatchObject({
      status: 400,
      code: 'field_invalid',
    });
  });
});
