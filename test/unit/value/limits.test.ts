import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { limitsOf, newAccount } from '../../../lambdas/account/account.ts';
import { limitNames, limitTable, plans } from '../../../lambdas/value/limits.ts';

const guide = readFileSync(join(import.meta.dirname, '../../../docs/limits.md'), 'utf8');
const rows = guide
  .split('\n')
  .filter((line) => line.startsWith('| `'))
  .map((line) => line.split('|').map((cell) => cell.trim()));
const rowOf = (field: string): readonly string[] => rows.find(([, name]) => name === `\`${field}\``) ?? [];

describe('the guide to limits', () => {
  it.each(limitNames)('has the same %s as the table', (name) => {
    const { free, paid, least, most } = limitTable[name];
    const [, , meaning = '', ...rest] = rowOf(name);
    expect(meaning.length).toBeGreaterThan(3);
    expect(rest.slice(0, 3)).toEqual([String(free), String(paid), `${least} to ${most}`]);
    expect(rest[3]?.length).toBeGreaterThan(2);
  });

  it('has the budget, too', () => {
    expect(rowOf('budget').slice(3, 6)).toEqual(['0', '0', '0 to 1000000000']);
  });
});

describe('the limits of an account', () => {
  const accountOf = (plan: (typeof plans)[number], limits = {}) =>
    newAccount({ id: 'one', plan, region: 'eu-central-1', createdAt: 0, limits });

  it.each(plans)('are its %s plan’s', (plan) => {
    const expected = Object.fromEntries(limitNames.map((name) => [name, limitTable[name][plan]]));
    expect(limitsOf(accountOf(plan))).toEqual(expected);
  });

  it('are those that were set for it', () => {
    expect(limitsOf(accountOf('free', { max_retries: 9 }))).toMatchObject({ max_retries: 9, timeout: 30 });
  });

  it('have ten times the soft daily limit as the hard one', () => {
    const limits = limitsOf(accountOf('free', { max_requests_per_day: 70 }));
    expect(limits.max_requests_per_day_hard).toBe(700);
  });
});
