import { describe, expect, it } from 'vitest';
import { derivedId, newId, shardCounts, shardOf, timeOfId } from '../../../lambdas/shared/ids.ts';

describe('an id', () => {
  it('is ordered by time', () => {
    expect(newId('msg', 1_000) < newId('msg', 2_000)).toBe(true);
    expect(timeOfId(newId('msg', 1_790_000_000_123))).toBe(1_790_000_000_123);
  });

  it('that is derived is the same for the same seed, and different for others', () => {
    expect(derivedId('dlq', 5, 'seed')).toBe(derivedId('dlq', 5, 'seed'));
    expect(derivedId('dlq', 5, 'seed')).not.toBe(derivedId('dlq', 5, 'sead'));
    expect(derivedId('dlq', 5, 'seed')).toMatch(/^dlq_[0-9A-HJKMNP-TV-Z]{26}$/);
  });

  it.each([shardCounts.usual, shardCounts.wide])(
    'spreads an account’s rows evenly over %d shards',
    (shards) => {
      const counts = new Map<string, number>();
      const each = 500;
      for (let index = 0; index < each * shards; index += 1) {
        const shard = shardOf('acct', newId('msg', index, shards));
        counts.set(shard, (counts.get(shard) ?? 0) + 1);
      }
      expect(counts.size).toBe(shards);
      expect(Math.min(...counts.values())).toBeGreaterThan(each - 6 * Math.sqrt(each));
      expect(Math.max(...counts.values())).toBeLessThan(each + 6 * Math.sqrt(each));
    },
  );

  it('from before there were many partitions is found in its old place', () => {
    const random = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
    for (const last of random) {
      const id = `msg_01KAMK7Q5Z4Y8W3V2T1S0R9P7${last}`;
      expect(shardOf('acct', id)).toBe(`acct#${last.charCodeAt(0) % 8}`);
    }
    expect(derivedId('dlq', 1_790_000_000_123, 'msg_1/1')).toBe('dlq_01M3250V3VF6V9FF70BX5JSGDZ');
  });

  it('that is derived is in the partition of its origin', () => {
    for (let index = 0; index < 100; index += 1) {
      const message = newId('msg', index, shardCounts.wide);
      expect(shardOf('acct', derivedId('dlq', 7, `seed ${index}`, message))).toBe(shardOf('acct', message));
    }
  });
});
