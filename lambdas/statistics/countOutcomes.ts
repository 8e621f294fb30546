/**
 * Counts what became of an account's messages. The log has the record that ended each of them, so nothing is counted, or
 * written, when that happens: a question reads what was recorded since the last count, and adds that to the counts. They are
 * kept in one row with the place up to which each shard of the log is counted, written on the version that was read: so where
 * several count a shard at once one count is kept, and each record is counted once, whichever process dies meanwhile. Several
 * that count different shards each add their own to the row.
 */
import { minuteMs, now } from '../shared/clock.ts';
import { countedFrom, countsOf, noCounts, sumOf, withoutPast, type OutcomeCounts } from './outcomes.ts';
import { type LoggedEnd, readEnds } from '../message/log.ts';
import { shardsOf, type Sharded } from '../table/shards.ts';
import { loadOutcomes, saveOutcomes, type KeptOutcomes } from './store/outcomes.ts';
import { log } from '../aws/log.ts';
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

/** One of several parts of the work, each of which counts other shards. */
export interface CountingPart {
  /** From 0 on. */
  readonly part: number;
  readonly parts: number;
}

export const wholeCount: CountingPart = { part: 0, parts: 1 };

/** The places of the shards that a part counts, among all shards of the account. */
export const placesIn = ({ shards }: Sharded, { part, parts }: CountingPart): readonly number[] =>
  Array.from({ length: shards }, (_, place) => place).filter((place) => place % parts === part);

/**
 * Counts the outcomes of an account.
 *
 * @param budgetMs how long the log is read where much of it was not counted yet; it is read at least once
 * @param part the shards that are read; what is kept of the others is taken as it is
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
  // Counts that could not be kept are counted again the next time.
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

/** Tries to keep a count beside those of other shards; each of the others may have been kept meanwhile. */
const mostTries = 20;

/**
 * Adds to the row what was counted. Where others have written the row meanwhile, it is added to theirs, unless they counted one
 * of the same shards: then nothing is kept, and what they left is counted the next time.
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
    // What refused it may be a moment younger than an eventually consistent read.
    there = await loadOutcomes(account.id, true);
    if (shards.some(({ place }) => untilOf(there, place) !== untilOf(kept, place))) return;
  }
  log.warn('Counts could not be kept beside those of others', { accountId: account.id });
}

interface CountedShard extends CountedRecords {
  /** The place of the shard among all of the account. */
  readonly place: number;
}

interface CountedRecords {
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
