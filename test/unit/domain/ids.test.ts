import { describe, expect, it } from 'vitest';
import { derivedId, newId, shardCount, shardOf, timeOfId } from '../../../lambdas/domain/ids.ts';

describe('an id', () => {
  it('is ordered by time', () => {
    expect(newId('msg', 1_000) < newId('msg', 2_000)).toBe(true);
    expect(timeOfId(newId('msg', 1_790_000_000_123))).toBe(1_790_000_000_123);
  });

  it('that is derived is the same for the same seed, and another for another', () => {
    expect(derivedId('dlq', 5, 'seed')).toBe(derivedId('dlq', 5, 'seed'));
    expect(derivedId('dlq', 5, 'seed')).not.toBe(derivedId('dlq', 5, 'sead'));
    expect(derivedId('dlq', 5, 'seed')).toMatch(/^dlq_[0-9A-HJKMNP-TV-Z]{26}$/);
  });

  it('spreads an account’s rows evenly over its shards', () => {
    const counts = new Map<string, number>();
    for (let index = 0; index < 8_000; index += 1) {
      const shard = shardOf('acct', newId('msg', index));
      counts.set(shard, (counts.get(shard) ?? 0) + 1);
    }
    expect(counts.size).toBe(shardCount);
    expect(Math.min(...counts.values())).toBeGreaterThan(8_000 / shardCount / 2);
  });
});
