import { isRecent, now, secondMs } from '../shared/clock.ts';
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
 * Limits the dead letter queue to the account's `max_dlq_size`. Dead letters are counted; above the limit, one process trims
 * the oldest. So the cost does not grow with the queue.
 *
 * A process that dies may leave dead letters uncounted, but never counts one twice. So the queue may exceed its limit for a
 * while, but nothing is trimmed too early.
 */

/** Trimming starts at 1% above the limit (at most 200 dead letters), so that many are removed together. */
const mostSlack = 200;
const slackOf = (size: number): number => Math.min(Math.floor(size / 100), mostSlack);

/** Dead letters removed in one step. If a process dies in a step, this many may be uncounted. */
const removedAtOnce = 20;
const readAtOnce = 200;
/** A trim stops after this time. The next new dead letter continues it. */
const trimmingBudgetMs = 10 * secondMs;
/**
 * An unfinished trim that started earlier than this is of a process that has died: trims stop after 10 s, and
 * calls time out after 13 s.
 */
const trimmingStaleMs = 60 * secondMs;

/**
 * Counts a new dead letter, and trims a queue that is too long. Errors do not fail the delivery: an uncounted
 * dead letter stays until it expires, and the next one retries the trim.
 *
 * @param expiresAt when the dead letter expires
 * @param size the account's `max_dlq_size`
 */
export async function keepToSize(account: Sharded, expiresAt: number, size: number): Promise<void> {
  try {
    const there = await countIn(account.id, [expiresAt], now());
    if (there === undefined || !isTooLarge(there, size)) return;
    // Another process is trimming. It checks the count again before it ends.
    if (there.trimmedSince !== undefined && isRecent(there.trimmedSince, trimmingStaleMs, now())) return;
    await trim(account, size);
  } catch (error) {
    log.warn('A dead letter queue could not be trimmed; the next dead letter retries it', {
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
        // The index may still show removed dead letters. If it shows only those, reading it again would not
        // help.
        isGoingOn ||= isGone.size > 0;
      }
    }
    there = await endTrimming(accountId, since, now());
  } while (there !== undefined && isTooLarge(there, size) && now() < until);
}

async function oldestOf(account: Sharded, count: number): Promise<readonly PresentDeadLetter[]> {
  const found = await Promise.all(shardsOf(account).map((shard) => oldestDeadLetters(shard, count)));
  const ordered = found.flat().map((entry) => ({ ...entry, id: entry.dlqId, time: timeOfId(entry.dlqId) }));
  return ordered.sort((one, other) => byAge(other, one)).slice(0, count);
}

const expiriesOf = (entries: readonly Pick<PresentDeadLetter, 'expiresAt'>[]): readonly number[] =>
  entries.map(({ expiresAt }) => expiresAt);

/** @returns the ids of those that still existed */
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
 * Subtracts the dead letters first: if the process dies, the count is too low, so nothing is trimmed too early.
 *
 * @returns the ids of those that still existed
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
