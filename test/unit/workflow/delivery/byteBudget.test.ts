import { describe, expect, it } from 'vitest';
import { ByteBudget } from '../../../../lambdas/workflow/delivery/byteBudget.ts';

const patient = 60_000;

async function held(budget: ByteBudget, bytes: number) {
  const hold = await budget.acquire(bytes, patient);
  if (hold === undefined) throw new Error('There was no room.');
  return hold;
}

describe('a budget of 100 bytes', () => {
  it('lets small bodies pass at once, and counts the others', async () => {
    const budget = new ByteBudget(100, 10);
    await held(budget, 100);
    await held(budget, 10);
    expect(budget.held).toEqual({ now: 100, most: 100 });
  });

  it('lets bodies pass in their order, even if a later one would fit', async () => {
    const budget = new ByteBudget(100, 1);
    const first = await held(budget, 60);
    const came: string[] = [];
    const second = held(budget, 80).then((hold) => (came.push('80'), hold));
    const third = held(budget, 20).then((hold) => (came.push('20'), hold));
    expect(came).toEqual([]);
    first.shrinkTo(30);
    first.release();
    first.release();
    await Promise.all([second, third]);
    expect(came).toEqual(['80', '20']);
    expect(budget.held.now).toBe(100);
  });

  it('lets a body that is larger than the budget pass alone', async () => {
    const budget = new ByteBudget(100, 1);
    const small = await held(budget, 2);
    const large = held(budget, 1_000);
    small.release();
    const alone = await large;
    expect(budget.held.now).toBe(100);
    alone.release();
    expect(budget.held.now).toBe(0);
  });

  it('ends a wait at its timeout, and lets the next bodies pass', async () => {
    const budget = new ByteBudget(100, 1);
    await held(budget, 50);
    const tooLarge = budget.acquire(80, 5);
    const behind = held(budget, 50);
    expect(await tooLarge).toBeUndefined();
    await behind;
    expect(budget.held.now).toBe(100);
  });
});
