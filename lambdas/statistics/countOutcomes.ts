/**
 * Counts the outcomes of an account's messages from the log, which has a record of each message's end. A
 * request adds the records since the last count to the counts. One row has the counts, and how far each shard
 * of the log is counted. If several processes count the same shard, only one result is stored. So each record
 * is counted once, even if a process dies.
 */
import { now } from '../shared/clock.ts';
import { countedFrom, countsOf, noCounts, sumOf, withoutPast, type OutcomeCounts } from './outcomes.ts';
import { settledAfterMs } from '../message/log.ts';
import { shardsOf, type Sharded } from '../table/shards.ts';
import { type LoggedEnd, readEnds } from './store/log.ts';
import { loadOutcomes, saveOutcomes, type KeptOutcomes } from './store/outcomes.ts';
import { log } from '../aws/log.ts';
import { logAndContinue } from '../aws/logAndContinue.ts';

export interface CountedOutcomes {
  readonly counts: OutcomeCounts;
  readonly settled: OutcomeCounts;
  /** Set if there were too many records: those after this time are not all counted. */
  readonly countedUntil: number | undefined;
}

export interface CountingPart {
  /** Counted from 0. */
  readonly part: number;
  readonly parts: number;
}

export const wholeCount: CountingPart = { part: 0, parts: 1 };

export const placesIn = ({ shards }: Sharded, { part, parts }: CountingPart): readonly number[] =>
  Array.from({ length: shards }, (_, place) => place).filter((place) => place % parts === part);

/**
 * Counts the outcomes of an account.
 *
 * @param budgetMs how long to read the log if much of it is uncounted; it is read at least once
 * @param part the shards to read; for the others, the stored counts are used
 */
export async function countOutcomes(
  account: Sharded,
  budgetMs: number,
  part: CountingPart = wholeCount,
): Promise<CountedOutcomes> {
  const time = now();
  const kept = await loadOutcomes(account.id);
  const settledAt = time - settledAfterMs;
  const names = shardsOf(account);
  const shards = await Promise.all(
    placesIn(account, part).map(async (place): Promise<CountedShard> => {
      const behind = Math.max(kept?.countedUntil[place] ?? 0, countedFrom(time) - 1);
      return { place, ...(await countShard(names[place] ?? '', behind, settledAt, time + budgetMs)) };
    }),
  );
  const settled = withSettled(kept, shards, time);
  // If this fails, the next request counts the same records again.
  if (shards.some(({ hasMoved }) => hasMoved)) await logAndContinue(keep(account, kept, shards, time));
  const ends = shards.flatMap(({ readUntil }) => readUntil ?? []);
  return {
    counts: sumOf([settled, ...shards.map(({ recent }) => recent)]),
    settled,
    countedUntil: ends.length === 0 ? undefined : Math.min(...ends),
  };
}

const withSettled = (
  kept: KeptOutcomes | undefined,
  shards: readonly CountedShard[],
  time: number,
): OutcomeCounts =>
  withoutPast(sumOf([kept?.counts ?? noCounts, ...shards.map((shard) => shard.settled)]), time);

/** How often storing a count is tried. Other processes may store counts of other shards in between. */
const mostTries = 20;

/**
 * Adds the new counts to the row, even if other processes have changed it since. If they counted one of the
 * same shards, nothing is stored, and the next request counts the rest.
 *
 * @param kept the row before the shards were read
 */
async function keep(
  account: Sharded,
  kept: KeptOutcomes | undefined,
  shards: readonly CountedShard[],
  time: number,
): Promise<void> {
  const untilOf = (of: KeptOutcomes | undefined, place: number): number => of?.countedUntil[place] ?? 0;
  let there = kept;
  for (let tried = 0; tried < mostTries; tried += 1) {
    const moved = new Map(shards.map(({ place, settledUntil }) => [place, settledUntil]));
    const countedUntil = Array.from(
      { length: account.shards },
      (_, place) => moved.get(place) ?? untilOf(there, place),
    );
    const counts = withSettled(there, shards, time);
    if (await saveOutcomes(account.id, { counts, countedUntil, version: there?.version ?? 0 }, time)) return;
    // Strongly consistent, to see the row that caused the conflict.
    there = await loadOutcomes(account.id, true);
    if (shards.some(({ place }) => untilOf(there, place) !== untilOf(kept, place))) return;
  }
  log.warn('Counts were not written because of other writers', { accountId: account.id });
}

interface CountedShard extends CountedRecords {
  /** The number of the shard. */
  readonly place: number;
}

interface CountedRecords {
  readonly settled: OutcomeCounts;
  readonly recent: OutcomeCounts;
  /** Records up to this time are counted, and will not change. */
  readonly settledUntil: number;
  /** Whether any outcome became final. */
  readonly hasMoved: boolean;
  /** The shard's part of `countedUntil` in {@link CountedOutcomes}. */
  readonly readUntil: number | undefined;
}

/**
 * @param behind up to when the shard is already counted
 * @param settledAt later records may still change
 * @param until when to stop reading
 */
async function countShard(
  shard: string,
  behind: number,
  settledAt: number,
  until: number,
): Promise<CountedRecords> {
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
