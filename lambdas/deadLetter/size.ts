import { now, secondMs } from '../shared/clock.ts';
import { timeOfId } from '../shared/ids.ts';
import { chunksOf, eachOf } from '../shared/lists.ts';
import type { DeadLetter } from './rows.ts';
import { removeDeadLetter, type Removal } from './claims.ts';
import {
  oldestDeadLetters,
  beginTrimming,
  countIn,
  countOut,
  endTrimming,
  promiseRemoval,
  type DeadLetterQueueSize,
  type PresentDeadLetter,
} from './sizeRows.ts';
import { byAge, shardsOf, type Sharded } from '../table/shards.ts';
import { log } from '../aws/log.ts';
import { logAndContinue } from '../aws/logAndContinue.ts';

/**
 * Keeps the dead letter queue to its account's `max_dlq_size`. Every dead letter that comes or goes is counted, and where
 * there are too many, one process trims the queue: it takes the oldest out. So a dead letter costs the same however many
 * there are: one write that counts it, and, where the queue is full, the calls that take another one out.
 *
 * A process that dies in the middle leaves dead letters uncounted, and counts none twice. So the queue may be longer than
 * its limit for a while, but no dead letter goes before its time.
 */

/**
 * The queue is trimmed once it is longer than its limit by a hundredth of it, so that many go together; 200 dead letters
 * too many are the most.
 */
const mostSlack = 200;
const slackOf = (size: number): number => Math.min(Math.floor(size / 100), mostSlack);

/** The number of dead letters that are taken out at once. A process that dies can leave this many uncounted. */
const removedAtOnce = 20;
/** The number of dead letters that are read at once. After a limit was lowered there may be very many to trim. */
const readAtOnce = 200;
/** A process trims for at most this long. The next dead letter makes the trimming go on. */
const trimmingBudgetMs = 10 * secondMs;
/** A process that began to trim this long ago has died: it stops after 10 s, and each of its calls ends after 13 s. */
const trimmingStaleMs = 60 * secondMs;

/**
 * Counts a dead letter that was just written, and trims the queue when it is too long. A delivery does not fail because of
 * this: a dead letter that could not be counted is one more than the limit allows until it expires, and a trim that failed
 * is left to the next dead letter.
 *
 * @param expiresAt Unix milliseconds at which the dead letter expires
 * @param size the account's `max_dlq_size`
 */
export async function keepToSize(account: Sharded, expiresAt: number, size: number): Promise<void> {
  try {
    const there = await countIn(account.id, [expiresAt], now());
    if (there === undefined || !isTooLarge(there, size)) return;
    // The process that trims checks the count again when it is done, and sees this dead letter.
    if (there.trimmedSince !== undefined && there.trimmedSince >= now() - trimmingStaleMs) return;
    await trim(account, size);
  } catch (error) {
    log.warn('A dead letter queue could not be kept to its size; the next dead letter tries again', {
      accountId: account.id,
      error: error instanceof Error ? error : String(error),
    });
  }
}

const isTooLarge = ({ entries }: DeadLetterQueueSize, size: number): boolean =>
  entries > size + slackOf(size);

async function trim(account: Sharded, size: number): Promise<void> {
  const { id: accountId } = account;
  const until = now() + trimmingBudgetMs;
  let there: DeadLetterQueueSize | undefined;
  do {
    const since = now();
    there = await beginTrimming(accountId, since, since - trimmingStaleMs);
    if (there === undefined) return;
    await takeOutAll(accountId, there.promised, 'trimmed');
    let isGoingOn = true;
    while (isGoingOn && there.entries > size && now() < until) {
      const oldest = await oldestOf(account, Math.min(there.entries - size, readAtOnce));
      isGoingOn = false;
      for (const entries of chunksOf(oldest, removedAtOnce)) {
        there = await promiseRemoval(accountId, since, entries, now());
        if (there === undefined) return;
        const isGone = await takeOutAll(
          accountId,
          entries.map(({ dlqId }) => dlqId),
          'trimmed',
        );
        const notTaken = entries.filter(({ dlqId }) => !isGone.has(dlqId));
        there = (await countIn(accountId, expiriesOf(notTaken), now(), since)) ?? there;
        // The index may still show dead letters that are gone. Where all are gone, another read gives the same.
        isGoingOn ||= isGone.size > 0;
      }
    }
    there = await endTrimming(accountId, since, now());
  } while (there !== undefined && isTooLarge(there, size) && now() < until);
}

/** Finds the oldest dead letters of all shards. */
async function oldestOf(account: Sharded, count: number): Promise<readonly PresentDeadLetter[]> {
  const found = await Promise.all(shardsOf(account).map((shard) => oldestDeadLetters(shard, count)));
  const ordered = found.flat().map((entry) => ({ ...entry, id: entry.dlqId, time: timeOfId(entry.dlqId) }));
  return ordered.sort((one, other) => byAge(other, one)).slice(0, count);
}

const expiriesOf = (entries: readonly Pick<PresentDeadLetter, 'expiresAt'>[]): readonly number[] =>
  entries.map(({ expiresAt }) => expiresAt);

/** @returns the ids of the dead letters that were there */
async function takeOutAll(
  accountId: string,
  dlqIds: readonly string[],
  reason: Removal,
): Promise<ReadonlySet<string>> {
  const isGone = new Set<string>();
  await eachOf(dlqIds, removedAtOnce, async (dlqId) => {
    if (await removeDeadLetter(accountId, dlqId, now(), reason)) isGone.add(dlqId);
  });
  return isGone;
}

/**
 * Takes out dead letters that their owner deletes, or that were sent again. They are counted out first: should the process
 * die in between, the count is too low, and none is trimmed too early.
 *
 * @returns the ids of those that were still there
 */
export async function removeDeadLetters(
  accountId: string,
  entries: readonly Pick<DeadLetter, 'dlqId' | 'expiresAt'>[],
  reason: Removal,
): Promise<ReadonlySet<string>> {
  const isGone = new Set<string>();
  for (const some of chunksOf(entries, removedAtOnce)) {
    await countOut(accountId, expiriesOf(some), now());
    const taken = await takeOutAll(
      accountId,
      some.map(({ dlqId }) => dlqId),
      reason,
    );
    for (const dlqId of taken) isGone.add(dlqId);
    const notTaken = some.filter(({ dlqId }) => !taken.has(dlqId));
    await logAndContinue(countIn(accountId, expiriesOf(notTaken), now()));
  }
  return isGone;
}
