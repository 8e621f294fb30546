import { createHash } from 'node:crypto';
import { now } from '../domain/clock.ts';
import { shardCount, shardOf } from '../domain/ids.ts';
import { listDeadLetters, removeDeadLetter } from '../stores/dlq.ts';
import { shardsOf } from '../stores/shards.ts';
import { isNewer, merged } from './pages.ts';

/** The queue may grow by this part over its limit before the oldest entries go. */
const slack = 0.01;

/** Up to this size all shards are counted together, and the queue is exact to a hundredth; beyond it, each by itself. */
const countedTogether = 1_000;

/**
 * Keeps the dead letter queue within its size: the oldest entries go when there are more. Of a large queue each shard has
 * its part, which differ by chance by a few hundredths. Counting reads what it counts, so not every entry is followed by a
 * count: one in so many as make up a hundredth of the limit, chosen by the entry's id.
 *
 * @param size the account's `max_dlq_size`
 */
export async function keepDlqSize(accountId: string, dlqId: string, size: number): Promise<void> {
  const isTogether = size <= countedTogether;
  const part = isTogether ? 1 : shardCount;
  const each = Math.max(1, Math.floor((size * slack) / part));
  const lot = createHash('sha256').update(dlqId).digest().readUInt32BE();
  if (lot % each !== 0) return;

  const most = Math.ceil(size / part);
  const time = now();
  const shards = isTogether ? shardsOf(accountId) : [shardOf(accountId, dlqId)];
  const entries = merged(
    shards.map((shard) => listDeadLetters(shard, {}, time)),
    isNewer,
  );
  let seen = 0;
  for await (const { entry } of entries) {
    if (entry === undefined) continue;
    seen += 1;
    if (seen > most) await removeDeadLetter(accountId, entry.dlqId, time);
  }
}
