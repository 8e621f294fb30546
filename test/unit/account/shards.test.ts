import { expect, it } from 'vitest';
import { newAccount, shardsFor } from '../../../lambdas/account/account.ts';
import { shardCounts } from '../../../lambdas/shared/ids.ts';

const account = newAccount({ id: 'acct', plan: 'paid', region: 'eu-central-1', createdAt: 0 });

it.each([
  [{}, shardCounts.usual],
  [{ max_requests_per_second: 2_000 }, shardCounts.usual],
  [{ max_requests_per_second: 2_001 }, shardCounts.wide],
  [{ max_requests_per_day_hard: 50_000_000 }, shardCounts.usual],
  [{ max_requests_per_day_hard: 50_000_001 }, shardCounts.wide],
  // A day’s hard limit is ten times the soft one.
  [{ max_requests_per_day: 5_000_001 }, shardCounts.wide],
])('an account with the limits %j has %d partitions', (limits, shards) => {
  expect(shardsFor({ ...account, limits })).toBe(shards);
});

it('an account never has fewer partitions than before', () => {
  expect(shardsFor({ ...account, shards: shardCounts.wide })).toBe(shardCounts.wide);
});
