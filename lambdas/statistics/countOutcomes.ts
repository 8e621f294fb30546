/**
 * Counts what became of an account's messages. The log has the record that ended each of them, so nothing is counted, or
 * written, when that happens: a question reads what was recorded since the last count, and adds that to the counts. They are
 * kept in one row with the place in the log up to which it is counted, written on the version that was read: so where
 * several count at once one count is kept, and each record is counted once, whichever process dies meanwhile.
 */
import { minuteMs, now } from '../shared/clock.ts';
import { countedFrom, countsOf, noCounts, sumOf, withoutPast, type OutcomeCounts } from './outcomes.ts';
import { type LoggedEnd, readEnds } from '../message/log.ts';
import { shardsOf, type Sharded } from '../table/shards.ts';
import { loadOutcomes, saveOutcomes } from './store/outcomes.ts';
import { logAndContinue } from '../aws/logAndContinue.ts';

/**
 * A record has its place in the log by the time at which its attempt ended, and comes into the log later: after up to four
 * calls of AWS, which end after 13 s each, and when the index has followed its table. After this time none is expected any
 * more before that place; later ones are not counted. Younger records are counted again each time.
 */
export const settledAfterMs = 2 * minuteMs;

export interface CountedOutcomes {
  readonly counts: OutcomeCounts;
  /** The part of them that no later count changes. */
  readonly settled: OutcomeCounts;
  /** Unix milliseconds: later records are not all counted, because they were too many. Undefined where all are. */
  readonly countedUntil: number | undefined;
}

/**
 * Counts the outcomes of an account.
 *
 * @param budgetMs how long the log is read where much of it was not counted yet; it is read at least once
 */
export async function countOutcomes(account: Sharded, budgetMs: number): Promise<CountedOutcomes> {
  const { id: accountId } = account;
  const time = now();
  const kept = await loadOutcomes(accountId);
  const settledAt = time - settledAfterMs;
  const shards = await Promise.all(
    shardsOf(account).map((shard, index) => {
      const behind = Math.max(kept?.countedUntil[index] ?? 0, countedFrom(time) - 1);
      return countShard(shard, behind, settledAt, time + budgetMs);
    }),
  );
  const settled = withoutPast(
    sumOf([kept?.counts ?? noCounts, ...shards.map((shard) => shard.settled)]),
    time,
  );
  if (shards.some(({ hasMoved }) => hasMoved)) {
    const countedUntil = shards.map((shard) => shard.settledUntil);
    const version = kept?.version ?? 0;
    // Counts that could not be kept are counted again the next time.
    await logAndContinue(saveOutcomes(accountId, { counts: settled, countedUntil, version }, time));
  }
  const ends = shards.flatMap(({ readUntil }) => readUntil ?? []);
  return {
    counts: sumOf([settled, ...shards.map(({ recent }) => recent)]),
    settled,
    countedUntil: ends.length === 0 ? undefined : Math.min(...ends),
  };
}

interface CountedShard {
  /** Counts of records that are settled. */
  readonly settled: OutcomeCounts;
  /** Counts of the younger ones. */
  readonly recent: OutcomeCounts;
  /** Unix milliseconds: what is settled is counted up to here. */
  readonly settledUntil: number;
  /** Whether there was anything settled. */
  readonly hasMoved: boolean;
  /** As in {@link CountedOutcomes}. */
  readonly readUntil: number | undefined;
}

/**
 * @param behind Unix milliseconds up to which the shard is counted
 * @param settledAt Unix milliseconds; later records are not settled
 * @param until Unix milliseconds after which no further read begins
 */
async function countShard(
  shard: string,
  behind: number,
  settledAt: number,
  until: number,
): Promise<CountedShard> {
  const isSettled = ({ recordedAt }: LoggedEnd): boolean => recordedAt <= settledAt;
  let [settled, recent] = [noCounts, noCounts];
  let hasMoved = false;
  let readUntil: number | undefined = behind;
  do {
    const read = await readEnds(shard, readUntil);
    settled = sumOf([settled, countsOf(read.records.filter(isSettled))]);
    recent = sumOf([recent, countsOf(read.records.filter((record) => !isSettled(record)))]);
    hasMoved ||= read.records.some(isSettled);
    readUntil = read.readUntil;
  } while (readUntil !== undefined && now() < until);
  const settledUntil = Math.max(behind, Math.min(readUntil ?? settledAt, settledAt));
  return { settled, recent, settledUntil, hasMoved, readUntil };
}
