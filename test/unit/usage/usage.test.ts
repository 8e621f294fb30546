import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { randomUUID } from 'node:crypto';
import { newAccount, type Account } from '../../../lambdas/account/account.ts';
import { dayOf } from '../../../lambdas/shared/clock.ts';
import { metricLines } from '../../support/metrics.ts';
import { useStandIns } from '../../support/useStandIns.ts';
import { sizeOf } from '../../support/sample.ts';

/** Each process has separate modules, and all add to one table. */

useStandIns();
/** A step between reports depends on how quickly messages come: each takes a millisecond. */
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.parse('2026-11-20T12:00:00Z') });
});
beforeAll(() => {
  process.env['PRICE_PER_MESSAGE'] = '0.1';
});
afterAll(() => {
  delete process.env['PRICE_PER_MESSAGE'];
});

async function startProcess() {
  vi.resetModules();
  const [counter, charging, rateLimit, store, hours, { dynamodb }, { withMetrics }] = await Promise.all([
    import('../../../lambdas/usage/counter.ts'),
    import('../../../lambdas/usage/charge.ts'),
    import('../../../lambdas/usage/rateLimit.ts'),
    import('../../../lambdas/usage/usageRows.ts'),
    import('../../../lambdas/statistics/store/hours.ts'),
    import('../../../lambdas/aws/dynamodb.ts'),
    import('../../../lambdas/aws/metrics.ts'),
  ]);
  let writes = 0;
  let broken: string | undefined;
  let held: Promise<void> | undefined;
  dynamodb.middlewareStack.add(
    (next, context) => async (args) => {
      if (context.commandName === 'UpdateItemCommand') {
        writes += 1;
        await held;
      }
      if (context.commandName === broken) throw new Error('The table is out of reach.');
      return next(args);
    },
    { step: 'initialize', name: 'watch' },
  );
  return {
    ...counter,
    ...charging,
    ...rateLimit,
    ...store,
    ...hours,
    withMetrics,
    writes: () => writes,
    breakTable: (isBroken: boolean, command = 'UpdateItemCommand') => {
      broken = isBroken ? command : undefined;
    },
    holdWrites: (): (() => void) => {
      let release = (): void => undefined;
      held = new Promise((resolve) => {
        release = resolve;
      });
      return release;
    },
    /** Charges messages like one request, and returns whether it may. */
    send: async (account: Account, messages = 1): Promise<boolean> => {
      vi.setSystemTime(Date.now() + 1);
      const refusal = await charging.withCharges(account, messages, ({ charge }) =>
        Promise.resolve(charge(messages)),
      );
      await counter.reportUsage(account);
      return refusal === undefined;
    },
  };
}
type Process = Awaited<ReturnType<typeof startProcess>>;

const accountWith = (fields: Partial<Account> = {}): Account =>
  newAccount({
    id: randomUUID(),
    plan: 'paid',
    region: 'eu-central-1',
    createdAt: 0,
    ...fields,
  });

async function counted({ usageOf }: Process, { id }: Account): Promise<number> {
  const day = dayOf(Date.now());
  return (await usageOf(id, day, day)).get(day)?.requests ?? 0;
}

describe('the count of a day', () => {
  it('costs a fraction of a write for each message, and is right within one percent', async () => {
    const one = await startProcess();
    const account = accountWith();
    const messages = sizeOf({ ordinary: 500, thorough: 3_000 });
    for (let number = 0; number < messages; number += 1) await one.send(account);
    expect(Math.abs((await counted(one, account)) - messages)).toBeLessThanOrEqual(100);
    expect(one.writes()).toBeLessThan(messages / 4);
  });

  it('is right within a hundred even if its processes end all the time', async () => {
    const account = accountWith();
    let sent = 0;
    let writes = 0;
    for (let life = 0; life < sizeOf({ ordinary: 8, thorough: 40 }); life += 1) {
      const one = await startProcess();
      const messages = 1 + ((life * 7) % 30);
      for (let number = 0; number < messages; number += 1) await one.send(account);
      sent += messages;
      writes += one.writes();
    }
    const reader = await startProcess();
    expect(Math.abs((await counted(reader, account)) - sent)).toBeLessThanOrEqual(100);
    expect(writes).toBeLessThan(sent * 0.6);
  });

  it('excludes reservations that were not charged, whether the request fails or not', async () => {
    const one = await startProcess();
    const account = accountWith({ limits: { max_requests_per_day: 1, max_requests_per_day_hard: 30 } });
    await one.withCharges(account, 25, async ({ charge }) => {
      expect(await counted(one, account)).toBe(25);
      expect(charge(1)).toBeUndefined();
    });
    const work = one.withCharges(account, 25, ({ charge }) => {
      charge(2);
      return Promise.reject(new Error('It failed.'));
    });
    await expect(work).rejects.toThrow('It failed.');
    await one.reportUsage(account);
    expect(await counted(one, account)).toBe(1);
    expect([await one.send(account, 30), await one.send(account, 29)]).toEqual([false, true]);
  });

  it('is not used by a process that cannot read it', async () => {
    const one = await startProcess();
    one.breakTable(true, 'QueryCommand');
    expect(await one.send(accountWith())).toBe(true);
  });

  it('continues while the table is unreachable, and is reported afterwards', async () => {
    const one = await startProcess();
    const account = accountWith();
    await one.send(account);
    one.breakTable(true);
    for (let number = 0; number < 200; number += 1) expect(await one.send(account)).toBe(true);
    one.breakTable(false);
    await one.send(account);
    expect(Math.abs((await counted(one, account)) - 202)).toBeLessThanOrEqual(6);
  });

  it('starts again on another day, and the old day’s rest is added to the old count', async () => {
    vi.setSystemTime(Date.parse('2026-11-20T23:59:59Z'));
    const one = await startProcess();
    const account = accountWith({ limits: { max_requests_per_day: 3, max_requests_per_day_hard: 3 } });
    const outcomes = [await one.send(account, 3), await one.send(account)];
    vi.setSystemTime(Date.parse('2026-11-21T00:00:01Z'));
    outcomes.push(await one.send(account, 3), await one.send(account));
    expect(outcomes).toEqual([true, false, true, false]);
    const days = await one.usageOf(account.id, '2026-11-01', '2026-11-31');
    expect([...days].map(([day, { requests }]) => [day, requests])).toEqual([
      ['2026-11-20', 3],
      ['2026-11-21', 3],
    ]);
  });

  it('is also counted by the hour, and additions after midnight belong to the last hour of their day', async () => {
    vi.setSystemTime(Date.parse('2026-11-20T22:00:00Z'));
    const one = await startProcess();
    const account = accountWith();
    for (let number = 0; number < 100; number += 1) await one.send(account);
    const day = '2026-11-20';
    const before = (await one.usageByHour(account.id, day, day)).get(day);
    expect(before?.messagesOfHours[22]).toBe(before?.messages);
    vi.setSystemTime(Date.parse('2026-11-21T05:00:00Z'));
    await one.send(account);
    const after = (await one.usageByHour(account.id, day, day)).get(day);
    expect(after?.messagesOfHours[23]).toBe((after?.messages ?? 0) - (before?.messages ?? 0));
  });
});

describe('the hard limit', () => {
  it('is kept by many processes at once, within a hundred messages', async () => {
    const hard = sizeOf({ ordinary: 500, thorough: 12_000 });
    const account = accountWith({ limits: { max_requests_per_day: hard, max_requests_per_day_hard: hard } });
    const processes: Process[] = [];
    for (let number = 0; number < 6; number += 1) processes.push(await startProcess());
    let accepted = 0;
    let refusals = 0;
    while (refusals < processes.length) {
      const outcomes = await Promise.all(processes.map((one) => one.send(account)));
      accepted += outcomes.filter(Boolean).length;
      refusals = outcomes.filter((isAccepted) => !isAccepted).length;
    }
    expect(Math.abs(accepted - hard)).toBeLessThanOrEqual(100);
  });

  it('is exact for simultaneous requests', async () => {
    const one = await startProcess();
    const account = accountWith({ limits: { max_requests_per_day: 1, max_requests_per_day_hard: 20 } });
    const outcomes = await Promise.all(Array.from({ length: 50 }, () => one.send(account)));
    expect(outcomes.filter(Boolean)).toHaveLength(20);
  });

  it('is exact for requests during a report', async () => {
    const one = await startProcess();
    const account = accountWith({ limits: { max_requests_per_day: 1, max_requests_per_day_hard: 20 } });
    await one.withCharges(account, 10, ({ charge }) => Promise.resolve(charge(10)));
    const release = one.holdWrites();
    const report = one.reportUsage(account);
    const outcomes = Array.from({ length: 15 }, () =>
      one.withCharges(account, 1, ({ charge }) => Promise.resolve(charge(1) === undefined)),
    );
    const charged = (await Promise.all(outcomes)).filter(Boolean).length;
    release();
    await report;
    expect(charged).toBe(10);
    expect(await one.send(account)).toBe(false);
  });

  it('is checked without waiting for another request’s report, which includes the rest', async () => {
    const one = await startProcess();
    const account = accountWith({ limits: { max_requests_per_day: 1, max_requests_per_day_hard: 20 } });
    await one.send(account);
    const release = one.holdWrites();
    const first = one.send(account);
    await vi.waitFor(() => {
      expect(one.writes()).toBeGreaterThan(1);
    });
    const others = Array.from({ length: 8 }, () => one.send(account));
    expect(await Promise.all(others)).toEqual(others.map(() => true));
    release();
    await first;
    const today = dayOf(Date.now());
    expect((await one.usageOf(account.id, today, today)).get(today)?.requests).toBe(10);
  });

  it('is not exceeded by processes without fresh counts, nor by large simultaneous requests', async () => {
    const hard = sizeOf({ ordinary: 3_000, thorough: 10_000 });
    const account = accountWith({ limits: { max_requests_per_day: 1, max_requests_per_day_hard: hard } });
    const idle: Process[] = [];
    for (let number = 0; number < 5; number += 1) {
      const one = await startProcess();
      await one.send(account);
      idle.push(one);
    }
    const busy = await startProcess();
    let accepted = 5;
    while (await busy.send(account, 15)) accepted += 15;
    const outcomes = await Promise.all(idle.map((one) => one.send(account, 1_000)));
    accepted += outcomes.filter(Boolean).length * 1_000;
    vi.setSystemTime(Date.now() + 6_000);
    for (const one of idle) if (await one.send(account)) accepted += 1;
    expect(accepted).toBeLessThanOrEqual(hard + 100);
  });

  it('is known to a process that starts after it is reached', async () => {
    const account = accountWith({ limits: { max_requests_per_day: 1, max_requests_per_day_hard: 10 } });
    const first = await startProcess();
    while (await first.send(account));
    const second = await startProcess();
    expect(await second.send(account)).toBe(false);
  });
});

describe('the budget', () => {
  it('counts the month with callbacks, and starts again with the next month', async () => {
    vi.setSystemTime(Date.parse('2026-11-10T12:00:00Z'));
    const account = accountWith({ budget: 1 });
    const one = await startProcess();
    expect(await one.send(account, 4)).toBe(true);
    await one.countFollowing(account, 3);
    vi.setSystemTime(Date.parse('2026-11-30T12:00:00Z'));
    const other = await startProcess();
    expect(await other.send(account, 3)).toBe(true);
    expect(await other.send(account)).toBe(false);
    vi.setSystemTime(Date.parse('2026-12-01T00:00:01Z'));
    expect(await other.send(account, 10)).toBe(true);
    expect(await other.send(account)).toBe(false);
  });
});

describe('requests in a second', () => {
  it('are shared by the processes that send them', async () => {
    const start = Date.now();
    const limit = 40;
    const account = accountWith({ limits: { max_requests_per_second: limit } });
    const processes: Process[] = [];
    for (let number = 0; number < 4; number += 1) processes.push(await startProcess());
    const perSecond: number[] = [];
    for (let second = 0; second < 8; second += 1) {
      let accepted = 0;
      for (let step = 0; step < 50; step += 1) {
        vi.setSystemTime(start + second * 1_000 + step * 20);
        for (const one of processes) {
          // Two hundred requests in a second, five times the limit.
          const isAccepted = await one.limitCall(account, 0).then(
            () => true,
            () => false,
          );
          if (isAccepted) accepted += 1;
          await one.reportUsage(account);
        }
      }
      perSecond.push(accepted);
    }
    // At first each process assumes that it is the only one.
    expect(perSecond[0]).toBeLessThanOrEqual(4 * limit);
    for (const accepted of perSecond.slice(3)) {
      expect(accepted).toBeLessThanOrEqual(limit * 1.3);
      expect(accepted).toBeGreaterThanOrEqual(limit * 0.7);
    }
  });
  it('of one process are limited as configured', async () => {
    const start = Date.now();
    const one = await startProcess();
    const account = accountWith({ limits: { max_requests_per_second: 5 } });
    /** Returns how many of ten requests are accepted. */
    const accepted = async (): Promise<number> => {
      const asked = await Promise.allSettled(Array.from({ length: 10 }, () => one.limitCall(account, 0)));
      return asked.filter(({ status }) => status === 'fulfilled').length;
    };
    expect(await accepted()).toBe(5);
    vi.setSystemTime(start + 1_000);
    expect(await accepted()).toBe(5);
  });
});

describe('metrics', () => {
  beforeAll(() => {
    process.env['POWERTOOLS_METRICS_DISABLED'] = 'false';
  });
  afterAll(() => {
    process.env['POWERTOOLS_METRICS_DISABLED'] = 'true';
  });

  it('report messages above the soft limit', async () => {
    const one = await startProcess();
    const account = accountWith({ limits: { max_requests_per_day: 2 } });
    const send = one.withMetrics(one.send);
    expect(await metricLines(() => send(account, 2))).toEqual([]);
    expect(await metricLines(() => send(account, 5))).toEqual([
      expect.objectContaining({ service: 'messaging', RequestsOverSoftLimit: 5 }),
    ]);
  });

  it('are labelled with the account if the account exports them', async () => {
    const one = await startProcess();
    const account = accountWith({ prometheus: true });
    const lines = await metricLines(async () => {
      await one.limitCall(account, 10);
      await one.send(account, 3);
    });
    expect(lines).toEqual([
      expect.objectContaining({ account: account.id, Messages: 3 }),
      expect.objectContaining({ account: account.id, Requests: 1 }),
    ]);
    expect(await metricLines(() => one.send(accountWith(), 3))).toEqual([]);
  });
});
