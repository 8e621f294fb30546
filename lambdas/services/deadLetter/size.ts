import { now } from '../../domain/clock.ts';
import { countIn } from '../../stores/deadLetter/size.ts';
import type { Sharded } from '../../stores/shards.ts';
import { log } from '../../log.ts';
import { isTooLarge, trimmingStaleMs } from './sizeLimit.ts';

/**
 * Keeps the dead letter queue to its account's `max_dlq_size`. Every dead letter that comes or goes is counted, and where
 * there are too many, one process trims the queue: it takes the oldest out. So a dead letter costs the same however many
 * there are: one write that counts it, and, where the queue is full, the calls that take another one out.
 *
 * A process that dies in the middle leaves dead letters uncounted, and counts none twice. So the queue may be longer than
 * its limit for a while, but no dead letter goes before its time.
 */

/**
 * Counts a dead letter that was just written, and trims the queue when it is too long. A delivery does not fail because of
 * this: a dead letter that could not be counted is one more than the limit allows until it expires, and a trim that failed
 * is left to the next dead letter.
 *
 * @param expiresAt of the dead letter, in Unix milliseconds
 * @param size the account's `max_dlq_size`
 */
export async function keepToSize(account: Sharded, expiresAt: number, size: number): Promise<void> {
  try {
    const there = await countIn(account.id, [expiresAt], now());
    if (there === undefined || !isTooLarge(there, size)) return;
    // The process that trims looks at the count again when it is done, and sees this dead letter.
    if (there.trimmedSince !== undefined && there.trimmedSince >= now() - trimmingStaleMs) return;
    // Few dead letter queues are ever full, and what trims them is loaded when the first is.
    const { trim } = await import('./trim.ts');
    await trim(account, size);
  } catch (error) {
    log.warn('A dead letter queue could not be kept to its size; the next dead letter tries again', {
      accountId: account.id,
      error: error instanceof Error ? error : String(error),
    });
  }
}
