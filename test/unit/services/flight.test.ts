import { describe, expect, it, vi } from 'vitest';
import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { newAccount, type Account } from '../../../lambdas/domain/account.ts';
import { useStandIns } from '../../support/useStandIns.ts';

/** Deliveries in flight, as several processes hold them to one limit. Each process has modules of its own. */

useStandIns();

async function startProcess() {
  vi.resetModules();
  const [flight, { dynamodb }] = await Promise.all([
    import('../../../lambdas/services/flight.ts'),
    import('../../../lambdas/stores/dynamodb.ts'),
  ]);
  let calls = 0;
  let isBroken = false;
  dynamodb.middlewareStack.add(
    (next, context) => async (args) => {
      calls += 1;
      if (isBroken && context.commandName === 'PutItemCommand') {
        await setTimeout(100);
        throw new Error('The table is throttled.');
      }
      return next(args);
    },
    { step: 'initialize', name: 'watch' },
  );
  return {
    ...flight,
    calls: () => calls,
    breakTable: (broken: boolean) => {
      isBroken = broken;
    },
  };
}
type Process = Awaited<ReturnType<typeof startProcess>>;

const accountWith = (max_global_parallelism: number): Account =>
  newAccount({
    id: randomUUID(),
    plan: 'paid',
    region: 'eu-central-1',
    createdAt: 0,
    limits: { max_global_parallelism },
  });

async function processes(count: number): Promise<readonly Process[]> {
  const started: Process[] = [];
  for (let number = 0; number < count; number += 1) started.push(await startProcess());
  return started;
}

describe('deliveries in flight', () => {
  it.each([
    [1, 1],
    [1, 5],
    [3, 4],
    [10, 6],
    [40, 6],
  ])(
    'are never more than %d, whichever of %d processes makes them',
    async (limit, count) => {
      const account = accountWith(limit);
      let inFlight = 0;
      let most = 0;
      let done = 0;
      const wanted = 12;
      const work = async (one: Process): Promise<void> => {
        for (let left = wanted; left > 0;) {
          const slot = await one.takeSlot(account);
          if (slot === undefined) {
            await setTimeout(1 + Math.random() * 10);
            continue;
          }
          inFlight += 1;
          most = Math.max(most, inFlight);
          await setTimeout(Math.random() * 8);
          inFlight -= 1;
          left -= 1;
          done += 1;
          await slot.release();
        }
      };
      const lanes = 4;
      const started = await processes(count);
      await Promise.all(started.flatMap((one) => Array.from({ length: lanes }, () => work(one))));
      expect(done).toBe(count * lanes * wanted);
      expect(most).toBeLessThanOrEqual(limit);
      // What is allowed is made use of, all but what processes keep while there is plenty.
      expect(most).toBeGreaterThanOrEqual(Math.floor(Math.min(limit, count * lanes) * 0.7) || 1);
    },
    30_000,
  );

  it('are made one after the other in one process, which hands its slots on without a call', async () => {
    const [one] = await processes(1);
    const account = accountWith(3);
    let most = 0;
    let inFlight = 0;
    const turns: number[] = [];
    await Promise.all(
      Array.from({ length: 60 }, async () => {
        const slot = await one?.takeSlot(account);
        expect(slot).toBeDefined();
        inFlight += 1;
        most = Math.max(most, inFlight);
        await setTimeout(5);
        inFlight -= 1;
        turns.push((await slot?.release()) ?? 0);
      }),
    );
    expect(most).toBe(3);
    expect(one?.calls()).toBeLessThanOrEqual(8);
    // Now and then it is the turn of one that waits in the line.
    expect(turns.reduce((sum, turn) => sum + turn, 0)).toBeGreaterThanOrEqual(14);
  });

  it('that come while a lease is raised are not held back where there is plenty', async () => {
    const [one] = await processes(1);
    const account = accountWith(100);
    const start = Date.now();
    const slots = await Promise.all(
      Array.from({ length: 40 }, async (_, number) => {
        await setTimeout(number / 4);
        return one?.takeSlot(account);
      }),
    );
    expect(slots.every((slot) => slot !== undefined)).toBe(true);
    expect(Date.now() - start).toBeLessThan(1_000);
  });

  it('cost no call while there is plenty', async () => {
    const [one] = await processes(1);
    const account = accountWith(100);
    for (let number = 0; number < 200; number += 1) {
      const slots = await Promise.all([one?.takeSlot(account), one?.takeSlot(account)]);
      for (const slot of slots) await slot?.release();
    }
    expect(one?.calls()).toBeLessThanOrEqual(4);
  });

  it('of a process that died count for as long as they could have lasted, and no longer', async () => {
    const start = Date.now();
    vi.useFakeTimers({ toFake: ['Date'], now: start });
    const [dead, other] = await processes(2);
    const account = accountWith(2);
    await Promise.all([dead?.takeSlot(account), dead?.takeSlot(account)]);
    expect(await other?.takeSlot(account)).toBeUndefined();
    expect(await other?.roomOf(account)).toBe(0);
    vi.setSystemTime(start + 69_000);
    expect(await other?.takeSlot(account)).toBeUndefined();
    vi.setSystemTime(start + 71_000);
    expect(await other?.roomOf(account)).toBe(2);
    expect(await other?.takeSlot(account)).toBeDefined();
  });

  it('that last long are renewed', async () => {
    const start = Date.now();
    vi.useFakeTimers({ toFake: ['Date', 'setInterval'], now: start });
    const [slow, other] = await processes(2);
    const account = accountWith(1);
    const slot = await slow?.takeSlot(account);
    expect(slot).toBeDefined();
    for (let minute = 0; minute < 10; minute += 1) {
      await vi.advanceTimersByTimeAsync(20_000);
      // Timers of the SDK's sockets are real: its writes take a moment.
      await setTimeout(20);
      expect(await other?.takeSlot(account)).toBeUndefined();
    }
    vi.useRealTimers();
    expect(await slot?.release()).toBe(1);
  });

  it('that were begun under a higher limit count under a lower one', async () => {
    const [one, other] = await processes(2);
    const account = accountWith(4);
    const slots = await Promise.all([1, 2, 3].map(async () => one?.takeSlot(account)));
    const lowered = { ...account, limits: { max_global_parallelism: 2 } };
    expect(await one?.takeSlot(lowered)).toBeUndefined();
    expect(await other?.takeSlot(lowered)).toBeUndefined();
    expect(await other?.roomOf(lowered)).toBe(0);
    for (const slot of slots) await slot?.release();
    expect(await other?.takeSlot(lowered)).toBeDefined();
  });

  it('leak no slot when a lease cannot be written', async () => {
    const [one] = await processes(1);
    const account = accountWith(2);
    const first = [await one?.takeSlot(account), await one?.takeSlot(account)];
    one?.breakTable(true);
    // It asks for a lease that cannot be written, and gets the slot of one that ends meanwhile.
    const waits = one?.takeSlot(account);
    await setTimeout(30);
    void first[0]?.release();
    const handedOn = await waits;
    expect(handedOn).toBeDefined();
    one?.breakTable(false);
    await Promise.all([first[1]?.release(), handedOn?.release()]);
    const all = await Promise.all([1, 2].map(async () => one?.takeSlot(account)));
    expect(all.filter((slot) => slot !== undefined)).toHaveLength(2);
  });

  it('are given back once, however often', async () => {
    const [one] = await processes(1);
    const account = accountWith(1);
    const slot = await one?.takeSlot(account);
    await slot?.release();
    await slot?.release();
    const again = await one?.takeSlot(account);
    expect(again).toBeDefined();
    expect(await one?.takeSlot(account)).toBeUndefined();
  });
});
