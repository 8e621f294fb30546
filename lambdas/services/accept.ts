import { now } from '../domain/clock.ts';
import type { Message } from '../domain/message.ts';
import { storeBody } from '../stores/bodies.ts';
import { endMessage, putMessage } from '../stores/messages.ts';
import { log } from '../transport/log.ts';
import { sendPointer } from '../transport/queue.ts';

/**
 * Accepts a message: when this returns, its row and the pointer to it are stored, and it will be delivered or end in
 * the dead letter queue. Both are written side by side; a worker that comes before the row looks again.
 *
 * @throws when either could not be stored. Nothing half-done is left: a pointer without a row is dropped by the worker,
 * a row without a pointer is ended here.
 */
export async function accept(message: Message, body: Uint8Array): Promise<void> {
  const stored = await storeBody(message.accountId, message.messageId, body, message.expiresAt - now());
  const [row, pointer] = await Promise.allSettled([
    putMessage(message, stored),
    sendPointer(message, 0, message.notBefore),
  ]);
  if (row.status === 'fulfilled' && pointer.status === 'fulfilled') return;

  // Whichever failed may have been done all the same, its answer lost on the way: the end row stops the worker.
  await endMessage(message);
  const reason: unknown = row.status === 'rejected' ? row.reason : (pointer as PromiseRejectedResult).reason;
  log.error('A message could not be stored and was not accepted', {
    messageId: message.messageId,
    error: reason instanceof Error ? reason : String(reason),
  });
  throw reason;
}
