import { createHash } from 'node:crypto';
import { now } from '../domain/clock.ts';
import { shardCount, shardOf } from '../domain/ids.ts';
import { listDeadLetters, removeDeadLetter } from '../stores/dlq.ts';

/** The queue may grow by this part over its limit before the oldest entries go. */
const slack = 0.01;

/**
 * Keeps the dead letter queue within its size: the oldest entries of a shard go when it has more than its part. Counting
 * reads the shard, so not every entry is followed by a count: one in so many as make up a hundredth of the limit, chosen
 * by the entry's id.
 *
 * @param size the account's `max_dlq_size`
 */
export async function keepDlqSize(accountId: string, dlqId: string, size: number): Promise<void> {
  const each = Math.max(1, Math.floor((size * slack) / shardCount));
  const lot = createHash('sha256').update(dlqId).digest().readUInt32BE();
  if (lot % each !== 0) return;

  const most = Math.ceil(size / shardCount);
  const time = now();
  let seen = 0;
  for await (const { entry } of listDeadLetters(shardOf(accountId, dlqId), {}, time)) {
    if (entry === undefined) continue;
    seen += 1;
    if (seen > most) await removeDeadLetter(accountId, entry.dlqId, time);
  }
}
