import { randomUUID } from 'node:crypto';
import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { imported } from '../../support/imported.ts';
import * as z from 'zod/mini';
import { newAccount, type Account } from '../../../lambdas/account/account.ts';
import { useStandIns } from '../../support/useStandIns.ts';

useStandIns();

const lambdas = imported(async () => ({
  ...(await import('../../../lambdas/statistics/ownStats.ts')),
  ...(await import('../../../lambdas/usage/usageRows.ts')),
  ...(await import('../../../lambdas/deadLetter/sizeRows.ts')),
  ...(await import('../../../lambdas/statistics/store/outcomes.ts')),
  ...(await import('../../../lambdas/aws/dynamodb.ts')),
}));

let readUnits = 0;
const consumed = z.object({ ConsumedCapacity: z.object({ CapacityUnits: z.number() }) });

process.env['PRICE_PER_MESSAGE'] = '0.00001';
beforeAll(() => {
  lambdas.dynamodb.middlewareStack.add(
    (next) => async (args) => {
      const result = await next({ ...args, input: { ...args.input, ReturnConsumedCapacity: 'TOTAL' } });
      readUnits += consumed.parse(result.output).ConsumedCapacity.CapacityUnits;
      return result;
    },
    { step: 'initialize', name: 'readUnits' },
  );
});
afterEach(() => {
  vi.useRealTimers();
});

const makeAccount = (fields: Partial<Account> = {}): Account =>
  newAccount({ id: randomUUID(), plan: 'paid', region: 'eu-central-1', createdAt: 0, ...fields });

const setTime = (text: string): number => {
  const now = Date.parse(`${text}Z`);
  vi.useFakeTimers({ toFake: ['Date'], now });
  return now;
};

const use = (messages: number) => ({
  requests: messages - 1,
  messages,
  // The two are shown as one number.
  calls: messages,
  hooks: messages,
  bytes: 100,
});
const statsOf = (account: Account) => lambdas.getOwnStats({ account, access: 'read' });

describe('the statistics of an account', () => {
  it('have each hour’s messages if they were counted, even over midnight', async () => {
    const account = makeAccount();
    setTime('2026-11-21T01:10');
    await lambdas.addUsage(account.id, '2026-11-20', 23, use(5));
    await lambdas.addUsage(account.id, '2026-11-21', 0, use(3));
    await lambdas.addUsage(account.id, '2026-11-21', 1, use(2));
    const { hours, days, today } = await statsOf(account);
    expect(hours.slice(-4).map(({ hour, accepted }) => [new Date(hour).toISOString(), accepted])).toEqual([
      ['2026-11-20T22:00:00.000Z', 0],
      ['2026-11-20T23:00:00.000Z', 5],
      ['2026-11-21T00:00:00.000Z', 3],
      ['2026-11-21T01:00:00.000Z', 2],
    ]);
    expect(today).toMatchObject({ requests: 3, messages: 5, accepted: 5, calls: 10, bytes: 200 });
    expect(days.slice(-2)).toEqual([
      expect.objectContaining({ day: '2026-11-20', messages: 5, accepted: 5 }),
      { day: '2026-11-21', ...today },
    ]);
  });

  it('have the whole present month and no other', async () => {
    const account = makeAccount({ budget: 3 });
    setTime('2026-12-31T12:00');
    await lambdas.addUsage(account.id, '2026-11-30', 0, use(7));
    await lambdas.addUsage(account.id, '2026-12-01', 0, use(40));
    await lambdas.addUsage(account.id, '2026-12-31', 0, use(2));
    const { month, days } = await statsOf(account);
    expect(month).toEqual({ messages: 42, bytes: 200, cost: 0.000_42, budget: 3 });
    expect(days[0]).toMatchObject({ day: '2026-12-02', messages: 0 });
  });

  it('show nothing below zero if more was given back than is counted yet', async () => {
    const account = makeAccount();
    setTime('2026-11-20T01:10');
    await lambdas.addUsage(account.id, '2026-11-20', 0, use(5));
    await lambdas.addUsage(account.id, '2026-11-20', 1, use(-6));
    const { hours, today, month } = await statsOf(account);
    expect([hours.at(-1)?.accepted, today.messages, month.messages]).toEqual([0, 0, 0]);
  });

  it('count dead letters until the end of the day on which they expire', async () => {
    const account = makeAccount();
    const now = setTime('2026-11-20T12:00');
    await lambdas.countIn(account.id, [now + 1_000, now + 2_000, now + 86_400_000], now);
    expect((await statsOf(account)).deadLetters).toBe(3);
    setTime('2026-11-21T00:00');
    expect((await statsOf(account)).deadLetters).toBe(1);
  });

  it('of a month with usage in every hour cost at most fourteen read units', async () => {
    const account = makeAccount();
    const now = setTime('2026-11-30T23:59');
    const busy = use(1_000_000);
    const ended = { delivered: 990_000, failed: 9_000, cancelled: 1_000 };
    const last = (count: number, ms: number) => Array.from({ length: count }, (_, index) => now - index * ms);
    const dayOf = (time: number): string => new Date(time).toISOString().slice(0, 10);
    for (const day of last(30, 86_400_000).map(dayOf)) {
      for (let hour = 0; hour < 24; hour += 1) await lambdas.addUsage(account.id, day, hour, busy);
    }
    const counts = {
      steps: new Map(last(12, 300_000).map((time) => [time - (time % 300_000), ended])),
      hours: new Map(last(48, 3_600_000).map((time) => [time - (time % 3_600_000), ended])),
      days: new Map(last(30, 86_400_000).map((time) => [dayOf(time), ended])),
      retries: new Map(last(2, 86_400_000).map((time) => [dayOf(time), 9_000])),
    };
    const countedUntil = last(8, 0);
    await lambdas.saveOutcomes(account.id, { counts, countedUntil, version: 0 }, now);
    await lambdas.countIn(account.id, [now + 86_400_000], now);
    readUnits = 0;
    const { hours, days } = await statsOf(account);
    for (const shown of [...hours, ...days]) expect(shown).toMatchObject(ended);
    expect(readUnits).toBeGreaterThan(0);
    // One more unit reads the account by its token.
    expect(readUnits).toBeLessThanOrEqual(13);
  });
});
