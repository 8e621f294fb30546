import { now, secondMs } from '../../domain/clock.ts';
import { timeOfId } from '../../domain/ids.ts';
import { chunksOf } from '../../domain/lists.ts';
import { oldestDeadLetters } from '../../stores/deadLetter/deadLetters.ts';
import {
  beginTrimming,
  countIn,
  endTrimming,
  promiseRemoval,
  type DeadLetterQueueSize,
  type PresentDeadLetter,
} from '../../stores/deadLetter/size.ts';
import { byAge, shardsOf, type Sharded } from '../../stores/shards.ts';
import { expiriesOf, removedAtOnce, takeOutAll } from './removal.ts';
import { isTooLarge, trimmingStaleMs } from './sizeLimit.ts';

/** Dead letters that are looked for at once: after a limit was lowered there may be very many to trim. */
const lookedForAtOnce = 200;
/** One process trims for so long. The rest is left to the next dead letter. */
const trimmingBudgetMs = 10 * secondMs;
/** Takes the oldest dead letters out until there are no more than the limit, unless another process is at it. */
export async function trim(account: Sharded, size: number): Promise<void> {
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
      const oldest = await oldestOf(account, Math.min(there.entries - size, lookedForAtOnce));
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
        // The index may still show dead letters that are gone. Where all were, looking again gives the same.
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
