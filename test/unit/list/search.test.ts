import { describe, expect, it } from 'vitest';
import { mostSearched } from '../../../lambdas/shared/bounds.ts';
import type { Ordered } from '../../../lambdas/table/shards.ts';
import { useFixture } from '../../support/useFixture.ts';

const importSearch = () => import('../../../lambdas/list/search.ts');
let lambdas: Awaited<ReturnType<typeof importSearch>>;
useFixture(async () => {
  lambdas = await importSearch();
});

interface Numbered extends Ordered {
  readonly number: number;
}

async function* numbered(from: number, to: number): AsyncGenerator<Numbered> {
  for (let number = from; number < to; number += 1) {
    yield await Promise.resolve({ number, id: String(number).padStart(6, '0'), time: to - number });
  }
}

/** Searches rows for numbers. Every `every`-th row is looked into. */
function search(rows: AsyncIterable<Numbered>, wanted: readonly number[], { count = 100, every = 1 } = {}) {
  const lookedInto: number[] = [];
  const page = lambdas.searchedPage(
    rows,
    { fromDate: undefined, toDate: undefined, order: undefined, behind: undefined },
    count,
    ({ number }) => (number % every === 0 ? [number] : []),
    (numbers) => {
      lookedInto.push(...numbers);
      return Promise.resolve(new Set(numbers.filter((number) => wanted.includes(number))));
    },
  );
  return page.then(({ entries, next, searched }) => ({
    found: entries.map(({ entry }) => entry),
    next: next?.id,
    searched,
    lookedInto: lookedInto.length,
  }));
}

describe('a search', () => {
  it('looks once into each row that matches all other filters, and counts them', async () => {
    expect(await search(numbered(0, 1_234), [0, 300, 1_233], { every: 3 })).toEqual({
      found: [0, 300, 1_233],
      next: undefined,
      searched: 412,
      lookedInto: 412,
    });
  });

  it(`ends after ${mostSearched} rows with the place to continue`, async () => {
    const rows = mostSearched + 50;
    const first = await search(numbered(0, rows), [rows - 1]);
    const last = String(mostSearched - 1).padStart(6, '0');
    expect(first).toMatchObject({ found: [], next: last, searched: mostSearched });
    expect(await search(numbered(mostSearched, rows), [rows - 1])).toMatchObject({
      found: [rows - 1],
      next: undefined,
      searched: 50,
    });
  });

  it('ends with the last entry of a page, and looks into few rows after it', async () => {
    const page = await search(numbered(0, 5_000), [1, 2, 3], { count: 2 });
    expect(page).toMatchObject({ found: [1, 2], next: '000002', searched: 3 });
    expect(page.lookedInto).toBe(100);
  });
});
