import { beforeEach, describe, expect, it } from 'vitest';
import { setClockAhead } from '../../support/clockAhead.ts';
import { useFixture } from '../../support/useFixture.ts';
import type { Fixture } from '../../support/fixture.ts';

let fixture: Fixture;
let lambdas: Awaited<ReturnType<typeof importLambdas>>;
async function importLambdas() {
  const [scans, stores, pages, secrets] = await Promise.all([
    import('../../../lambdas/list/scans.ts'),
    import('../../../lambdas/list/store/scans.ts'),
    import('../../../lambdas/list/pages.ts'),
    import('../../../lambdas/account/secrets.ts'),
  ]);
  await secrets.masterSecret();
  return { ...scans, ...stores, ...pages };
}
useFixture(async (opened) => {
  fixture = opened;
  lambdas = await importLambdas();
});

let accountId = '';
let accounts = 0;
beforeEach(() => {
  accounts += 1;
  accountId = `scanning-${accounts}`;
});

const rowsOf = (count: number) => Array.from({ length: count }, (_, time) => ({ time, id: `row-${time}` }));

/** Reads up to a row that needs a slot, like a request in progress. */
async function begun() {
  const rows = lambdas.limitedScan(accountId, rowsOf(lambdas.rowsWithoutSlot + 10));
  for (let looked = 0; looked <= lambdas.rowsWithoutSlot; looked += 1) await rows.next();
  return rows;
}

async function readAll(count: number): Promise<number> {
  let looked = 0;
  for await (const _row of lambdas.limitedScan(accountId, rowsOf(count))) looked += 1;
  return looked;
}

const refused = { status: 429, code: 'scan_limit_reached' };

describe('a request', () => {
  it('that reads few rows makes no call', async () => {
    expect(await readAll(lambdas.rowsWithoutSlot)).toBe(lambdas.rowsWithoutSlot);
    expect(fixture.calls()).toBe(0);
  });

  it('that reads many takes a slot and frees it with two writes', async () => {
    await readAll(lambdas.rowsWithoutSlot + 5_000);
    expect(fixture.operations()).toEqual({ UpdateItemCommand: 2 });
  });

  it('frees its slot if it stops early or fails', async () => {
    for (let number = 0; number < lambdas.scansAtOnce; number += 1) await (await begun()).return(undefined);
    for (let number = 0; number < lambdas.scansAtOnce; number += 1) {
      const failing = (async () => {
        for await (const { time } of lambdas.limitedScan(accountId, rowsOf(lambdas.rowsWithoutSlot + 2))) {
          if (time > lambdas.rowsWithoutSlot) throw new Error('It fails.');
        }
      })();
      await expect(failing).rejects.toThrow('It fails.');
    }
    expect(await readAll(lambdas.rowsWithoutSlot + 1)).toBe(lambdas.rowsWithoutSlot + 1);
  });
});

describe('an account', () => {
  it('is limited to a number of long reads at a time, and the next one is refused until one ends', async () => {
    // All at once, so that they compete for the same slots.
    const running = await Promise.all(Array.from({ length: lambdas.scansAtOnce }, begun));
    await expect(begun()).rejects.toThrow(`${lambdas.scansAtOnce} requests under way`);
    await expect(begun()).rejects.toMatchObject(refused);
    // Short reads and other accounts continue.
    expect(await readAll(lambdas.rowsWithoutSlot)).toBe(lambdas.rowsWithoutSlot);
    const own = accountId;
    accountId = `${own}-other`;
    expect(await readAll(lambdas.rowsWithoutSlot + 1)).toBe(lambdas.rowsWithoutSlot + 1);
    accountId = own;
    await running[2]?.return(undefined);
    expect(await readAll(lambdas.rowsWithoutSlot + 1)).toBe(lambdas.rowsWithoutSlot + 1);
  });

  it('reuses the slots of dead processes, which do not free a slot of others', async () => {
    const dead = await Promise.all(Array.from({ length: lambdas.scansAtOnce }, begun));
    setClockAhead(31_000);
    await Promise.all(Array.from({ length: lambdas.scansAtOnce }, begun));
    await dead[0]?.return(undefined);
    await expect(begun()).rejects.toMatchObject(refused);
  });
});

describe('a bulk operation that may not continue reading', () => {
  const scope = 'bulk';
  const many = (count: number) => lambdas.limitedScan(accountId, rowsOf(count));

  it('is refused if it has done nothing', async () => {
    await Promise.all(Array.from({ length: lambdas.scansAtOnce }, begun));
    const done: number[] = [];
    const operation = lambdas.onEach(
      scope,
      many(lambdas.rowsWithoutSlot + 10),
      { count: Infinity, atOnce: 10 },
      () => undefined,
      () => {
        done.push(1);
        return Promise.resolve();
      },
    );
    await expect(operation).rejects.toMatchObject(refused);
    expect(done).toEqual([]);
  });

  it('answers with its place if it has done something, and loses nothing', async () => {
    await Promise.all(Array.from({ length: lambdas.scansAtOnce }, begun));
    const done: number[] = [];
    const cursor = await lambdas.onEach(
      scope,
      many(lambdas.rowsWithoutSlot + 10),
      { count: Infinity, atOnce: 7 },
      ({ time }) => time,
      (some) => {
        done.push(...some);
        return Promise.resolve();
      },
    );
    expect(done).toEqual(rowsOf(lambdas.rowsWithoutSlot).map(({ time }) => time));
    expect(await lambdas.placeAt(scope, cursor)).toMatchObject({ id: `row-${lambdas.rowsWithoutSlot - 1}` });
  });
});
