import { randomUUID } from 'node:crypto';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { imported } from '../../support/imported.ts';
import { ScanCommand } from '@aws-sdk/client-dynamodb';
import { newAccount } from '../../../lambdas/account/account.ts';
import { newId, shardOf } from '../../../lambdas/shared/ids.ts';
import type { AttemptState } from '../../../lambdas/message/message.ts';
import type { OutcomeCounts } from '../../../lambdas/statistics/outcomes.ts';
import { fateAt, itAtEachDeath } from '../../support/faults.ts';
import { itemBytes } from '../../../bench/units.ts';
import { useFixture } from '../../support/useFixture.ts';
import { type Fixture } from '../../support/fixture.ts';

let fixture: Fixture;
const sharded = (id: string) => ({ id, shards: 8 });

useFixture(
  (opened) => {
    fixture = opened;
  },
  { overHttp: true },
);
const lambdas = imported(async () => ({
  ...(await import('../../../lambdas/statistics/countOutcomes.ts')),
  ...(await import('../../../lambdas/statistics/countAllOutcomes.ts')),
  ...(await import('../../../lambdas/statistics/store/outcomes.ts')),
  ...(await import('../../../lambdas/aws/dynamodb.ts')),
  ...(await import('../../../lambdas/usage/usageRows.ts')),
}));

afterEach(() => {
  vi.useRealTimers();
});

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;
const budgetMs = 60_000;

const setTime = (time: number): void => {
  vi.useFakeTimers({ toFake: ['Date'], now: time });
};

type Written = readonly [recordedAt: number, state: AttemptState | 'cancelled'];

async function record(accountId: string, records: readonly Written[], isOneShard = false): Promise<void> {
  const rows = records.map(([recordedAt, state]) => {
    // The last letter decides on the shard.
    const messageId = newId('msg', recordedAt).replace(/.$/, isOneShard ? '0' : '$&');
    const end = state === 'cancelled' ? { end: 'CANCELED' } : { attempt: 0, state };
    return { shard: shardOf(accountId, messageId), id: `${messageId}~x`, recordedAt, ...end };
  });
  await lambdas.putAll(fixture.settings.messagesTable, rows);
}

async function forgetLog(accountId: string): Promise<void> {
  const { Items = [] } = await fixture.dynamodb.send(
    new ScanCommand({
      TableName: fixture.settings.messagesTable,
      FilterExpression: 'begins_with(#shard, :account)',
      ExpressionAttributeNames: { '#shard': 'shard' },
      ExpressionAttributeValues: { ':account': { S: `${accountId}#` } },
    }),
  );
  await lambdas.deleteAll(
    fixture.settings.messagesTable,
    Items.map(({ shard, id }) => ({ shard: shard?.S, id: id?.S })),
  );
}

async function usageRowBytes(accountId: string): Promise<number> {
  const { Items: [row, ...others] = [] } = await fixture.dynamodb.send(
    new ScanCommand({
      TableName: fixture.settings.usageTable,
      FilterExpression: '#owner = :owner',
      ExpressionAttributeNames: { '#owner': 'owner' },
      ExpressionAttributeValues: { ':owner': { S: accountId } },
    }),
  );
  if (row === undefined || others.length > 0) throw new Error('There is not one row.');
  return itemBytes(row);
}

function totalOf({ days }: OutcomeCounts) {
  const sum = { delivered: 0, failed: 0, cancelled: 0 };
  for (const day of days.values()) {
    sum.delivered += day.delivered;
    sum.failed += day.failed;
    sum.cancelled += day.cancelled;
  }
  return sum;
}

const countedNow = async (accountId: string, budget = budgetMs) =>
  totalOf((await lambdas.countOutcomes(sharded(accountId), budget)).counts);

const noon = Date.parse('2026-11-20T12:00:00Z');

describe('outcomes', () => {
  it('are counted once, however often and whenever they are requested', async () => {
    const account = randomUUID();
    let expected = 0;
    for (let minute = 0; minute < 4; minute += 1) {
      setTime(noon + minute * minuteMs);
      await record(account, [
        [noon + minute * minuteMs - 1_000, 'DELIVERED'],
        [noon + minute * minuteMs - 500, 'RETRY'],
      ]);
      expected += 1;
      for (let asked = 0; asked <= minute % 3; asked += 1)
        expect(await countedNow(account)).toEqual({ delivered: expected, failed: 0, cancelled: 0 });
    }
  });

  it('stay counted after the log has expired', async () => {
    const account = randomUUID();
    await record(account, [
      [noon - 3 * minuteMs, 'DELIVERED'],
      [noon - 3 * minuteMs, 'cancelled'],
      [noon, 'FAILED'],
    ]);
    setTime(noon);
    await lambdas.countOutcomes(sharded(account), budgetMs);
    await forgetLog(account);
    expect(await countedNow(account)).toEqual({ delivered: 1, failed: 0, cancelled: 1 });
  });

  it('are counted even if they are written up to two minutes late', async () => {
    const account = randomUUID();
    setTime(noon);
    await record(account, [[noon, 'DELIVERED']]);
    await lambdas.countOutcomes(sharded(account), budgetMs);
    await record(account, [[noon - 110_000, 'FAILED']]);
    setTime(noon + 10 * minuteMs);
    expect(await countedNow(account)).toEqual({ delivered: 1, failed: 1, cancelled: 0 });
  });

  it('are counted once by simultaneous processes', async () => {
    const account = randomUUID();
    setTime(noon);
    await record(
      account,
      Array.from({ length: 50 }, (_, index): Written => [noon - 5 * minuteMs - index, 'DELIVERED']),
    );
    const all = await Promise.all([1, 2, 3].map(() => countedNow(account)));
    setTime(noon + 5 * minuteMs);
    all.push(await countedNow(account));
    for (const counted of all) expect(counted.delivered).toBe(50);
  });

  itAtEachDeath('are counted once although a process that counts dies at any of its calls', async (fate) => {
    const account = randomUUID();
    setTime(noon);
    await record(account, [
      [noon - 5 * minuteMs, 'DELIVERED'],
      [noon - 4 * minuteMs, 'DELIVERED'],
    ]);
    await fixture.underFate(fate, () => lambdas.countOutcomes(sharded(account), budgetMs));
    expect(await countedNow(account)).toEqual({ delivered: 2, failed: 0, cancelled: 0 });
  });

  it('are counted once if the answer to the write of the counts is lost', async () => {
    const account = randomUUID();
    setTime(noon);
    await record(account, [[noon - 5 * minuteMs, 'DELIVERED']]);
    fixture.loseAnswer('PutItemCommand', 1);
    expect(await countedNow(account)).toMatchObject({ delivered: 1 });
    expect(await countedNow(account)).toMatchObject({ delivered: 1 });
  });

  it('are shown even if the counts cannot be saved', async () => {
    const account = randomUUID();
    setTime(noon);
    await record(account, [[noon - 5 * minuteMs, 'FAILED']]);
    fixture.refuse('PutItemCommand');
    expect(await countedNow(account)).toMatchObject({ failed: 1 });
    fixture.reset();
  });

  it('of a long log are counted in several turns, also those of one millisecond, and the answer says how far', async () => {
    const account = randomUUID();
    setTime(noon);
    const start = noon - 2 * dayMs;
    // One turn reads a thousand records of a shard, so the first one ends among the 700 of one millisecond.
    const seconds = Array.from({ length: 1_300 }, (_, index) => (index > 500 && index < 1_200 ? 500 : index));
    await record(
      account,
      seconds.map((second): Written => [start + second * 1_000, 'DELIVERED']),
      true,
    );
    const counted: number[] = [];
    let until: number | undefined = 0;
    while (until !== undefined) {
      const { counts, countedUntil } = await lambdas.countOutcomes(sharded(account), 0);
      counted.push(totalOf(counts).delivered);
      until = countedUntil;
      const recordedUntil = seconds.filter((second) => start + second * 1_000 <= (until ?? noon)).length;
      expect(totalOf(counts).delivered).toBeGreaterThanOrEqual(recordedUntil);
    }
    expect(counted.length).toBeGreaterThan(1);
    expect(counted).toEqual([...counted].sort((one, other) => one - other));
    expect(counted.at(-1)).toBe(seconds.length);
  });

  it('cost two calls for each shard and two more, and a write only if there is something new', async () => {
    const account = randomUUID();
    setTime(noon);
    await record(account, [[noon - 5 * minuteMs, 'DELIVERED']]);
    fixture.reset();
    await lambdas.countOutcomes(sharded(account), budgetMs);
    expect(fixture.operations()).toEqual({ GetItemCommand: 1, QueryCommand: 16, PutItemCommand: 1 });
    fixture.reset();
    await lambdas.countOutcomes(sharded(account), budgetMs);
    expect(fixture.operations()).toEqual({ GetItemCommand: 1, QueryCommand: 16 });
  });
});

describe('the outcomes of all accounts', () => {
  const makeAccounts = async (count: number): Promise<readonly string[]> => {
    const ids = Array.from({ length: count }, () => randomUUID());
    for (const id of ids) {
      const account = newAccount({ id, plan: 'free', region: fixture.settings.region, createdAt: 0 });
      await fixture.saveAccount(account, undefined);
    }
    return ids;
  };

  it('are counted before anyone requests them', async () => {
    const ids = await makeAccounts(3);
    setTime(noon);
    for (const id of ids) await record(id, [[noon - 5 * minuteMs, 'DELIVERED']]);
    await lambdas.countAllOutcomes(noon + minuteMs);
    for (const id of ids) {
      await forgetLog(id);
      expect(await countedNow(id)).toMatchObject({ delivered: 1 });
    }
  });

  it('are left for the next execution if the time is up', async () => {
    const [id = ''] = await makeAccounts(1);
    setTime(noon);
    await record(id, [[noon - 5 * minuteMs, 'DELIVERED']]);
    await lambdas.countAllOutcomes(noon);
    expect(await lambdas.loadOutcomes(id)).toBeUndefined();
    await lambdas.countAllOutcomes(noon + minuteMs);
    expect(await lambdas.loadOutcomes(id)).toBeDefined();
  });

  it('are counted even if one account’s cannot be', async () => {
    const ids = await makeAccounts(3);
    setTime(noon);
    for (const id of ids) await record(id, [[noon - 5 * minuteMs, 'DELIVERED']]);
    // The first call lists the accounts, and the second counts one account.
    await fixture.underFate(fateAt({ call: 2, when: 'before', survived: true }), () =>
      lambdas.countAllOutcomes(noon + minuteMs),
    );
    const kept = await Promise.all(ids.map((id) => lambdas.loadOutcomes(id)));
    expect(kept.filter((one) => one !== undefined).length).toBeGreaterThanOrEqual(2);
  });
});

describe('outcomes that several executions count in different shards', () => {
  const parts = 3;
  const all = Array.from({ length: parts }, (_, part) => ({ part, parts }));
  const count = (accountId: string, part: { readonly part: number; readonly parts: number }) =>
    lambdas.countOutcomes(sharded(accountId), budgetMs, part);
  const written = 40;
  const recorded = async (): Promise<string> => {
    const accountId = randomUUID();
    setTime(noon);
    await record(
      accountId,
      Array.from({ length: written }, (_, at): Written => [noon - 5 * minuteMs - at, 'DELIVERED']),
    );
    return accountId;
  };
  /** Returns the saved counts after the log is deleted. */
  const keptOf = async (accountId: string) => {
    await forgetLog(accountId);
    return countedNow(accountId);
  };

  it('are all saved by simultaneous executions, and counted once by repeated ones', async () => {
    const accountId = await recorded();
    await Promise.all([...all, ...all].map((part) => count(accountId, part)));
    expect(await keptOf(accountId)).toMatchObject({ delivered: written });
  });

  it('are those of the execution’s own shards only', async () => {
    const accountId = await recorded();
    await count(accountId, { part: 1, parts });
    const { countedUntil = [] } = (await lambdas.loadOutcomes(accountId)) ?? {};
    expect(countedUntil.map((until) => until > 0)).toEqual(
      Array.from({ length: 8 }, (_, place) => place % parts === 1),
    );
  });

  itAtEachDeath('are neither lost nor counted twice where one of them dies', async (fate) => {
    const accountId = await recorded();
    await fixture.underFate(fate, () => count(accountId, { part: 0, parts }));
    // The next hour's call counts the rest.
    for (const part of all) await count(accountId, part);
    expect(await keptOf(accountId)).toMatchObject({ delivered: written });
  });
});

describe('a message', () => {
  it('costs no more write units because it is counted in its hour', async () => {
    const account = randomUUID();
    const most = 999_999_999_999;
    const busy = { requests: most, messages: most, calls: most, hooks: most, bytes: most };
    for (let hour = 0; hour < 24; hour += 1) await lambdas.addUsage(account, '2026-11-20', hour, busy);
    expect(await usageRowBytes(account)).toBeLessThan(1_024);
  });
});
