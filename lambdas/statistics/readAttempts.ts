import type { Account } from '../account/account.ts';
import { listBudgetMs } from '../list/pages.ts';
import { now } from '../shared/clock.ts';
import { shardsOf } from '../table/shards.ts';
import { newestAttempts, type TimedAttempt, type WantedAttempts } from './store/log.ts';

export interface Looked {
  readonly attempts: readonly TimedAttempt[];
  /** All attempts since then were read. 0 if there are no older ones. */
  readonly from: number;
}

export async function readOnce(account: Account, wanted: WantedAttempts): Promise<Looked> {
  const read = await Promise.all(shardsOf(account).map((shard) => newestAttempts(shard, wanted)));
  // The shards were read back to different times. Only after the latest of these is every attempt known.
  const from = Math.max(0, ...read.flatMap(({ readFrom }) => readFrom ?? []));
  return {
    attempts: read.flatMap((one) => one.attempts.filter(({ recordedAt }) => recordedAt >= from)),
    from,
  };
}

const mostCalls = 10;

interface ReadBack {
  readonly attempts: readonly TimedAttempt[];
  /** All attempts since then were read. Undefined if all that are wanted were read. */
  readonly lookedFrom: number | undefined;
}

/**
 * Reads attempts back to a time, with at most ten calls for each shard and for at most a second. @param since Unix
 * milliseconds, as `time`
 */
export async function readBack(
  account: Account,
  since: number,
  time: number,
  wanted: Pick<WantedAttempts, 'destinations' | 'of'>,
): Promise<ReadBack> {
  const until = now() + listBudgetMs;
  const found: TimedAttempt[] = [];
  for (let call = 0, to = time; to >= since; call += 1) {
    if (call === mostCalls || (call > 0 && now() > until)) return { attempts: found, lookedFrom: to + 1 };
    const { attempts, from } = await readOnce(account, { ...wanted, from: since, to });
    found.push(...attempts);
    if (from === 0) break;
    // Moves on by at least a millisecond, in case one millisecond has more records than a call reads.
    to = Math.min(from, to) - 1;
  }
  return { attempts: found, lookedFrom: undefined };
}
