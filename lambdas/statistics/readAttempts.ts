/** Reads the attempts of an account from its log, of all of its shards. */
import type { Account } from '../account/account.ts';
import { listBudgetMs } from '../list/pages.ts';
import { newestAttempts, type TimedAttempt, type WantedAttempts } from '../message/log.ts';
import { now } from '../shared/clock.ts';
import { shardsOf } from '../table/shards.ts';

export interface Looked {
  readonly attempts: readonly TimedAttempt[];
  /** Unix milliseconds: all attempts since then were looked at. 0 where there are no older ones. */
  readonly from: number;
}

/** Reads attempts of all shards of an account, with one call for each. */
export async function readOnce(account: Account, wanted: WantedAttempts): Promise<Looked> {
  const read = await Promise.all(shardsOf(account).map((shard) => newestAttempts(shard, wanted)));
  // Shards are read back to different moments: from the latest of them on all have been read.
  const from = Math.max(0, ...read.flatMap(({ readFrom }) => readFrom ?? []));
  return {
    attempts: read.flatMap((one) => one.attempts.filter(({ recordedAt }) => recordedAt >= from)),
    from,
  };
}

/** The calls that attempts are read back with, for each shard. */
const mostCalls = 10;

/** Attempts that were read back to a moment. */
interface ReadBack {
  readonly attempts: readonly TimedAttempt[];
  /** Unix milliseconds: all attempts since then were looked at; undefined where all were that are wanted. */
  readonly lookedFrom: number | undefined;
}

/** Reads attempts back to a moment, with ten calls for each shard, or for a second. @param since Unix milliseconds, as `time` */
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
    // More records of one moment than a call reads would be read for ever.
    to = Math.min(from, to) - 1;
  }
  return { attempts: found, lookedFrom: undefined };
}
