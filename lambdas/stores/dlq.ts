/** The dead letter queue: a row for each message that failed for good, with all it takes to send it again. */
import { epochSeconds, type Attempt, type Message } from '../domain/message.ts';
import { shardOf } from '../domain/ids.ts';
import { settings } from '../settings.ts';
import type { StoredBody } from './bodies.ts';
import { putNew } from './dynamodb.ts';

export interface DeadLetter {
  readonly dlqId: string;
  readonly message: Message;
  readonly body: StoredBody;
  /** The attempt that was the last. */
  readonly last: Attempt;
  /** Unix milliseconds. */
  readonly expiresAt: number;
}

/** Writes an entry unless it is there already. */
export async function putDeadLetter(entry: DeadLetter): Promise<void> {
  const { message, last } = entry;
  await putNew(settings.dlqTable, 'id', {
    ...message,
    shard: shardOf(message.accountId, entry.dlqId),
    id: entry.dlqId,
    body: entry.body,
    retried: last.number,
    failedAt: last.recordedAt,
    response: last.response,
    expiresAt: epochSeconds(entry.expiresAt),
  });
}
