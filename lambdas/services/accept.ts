import { now } from '../domain/clock.ts';
import { chunksOf, eachOf } from '../domain/lists.ts';
import type { Message } from '../domain/message.ts';
import { storeBody, type StoredBody } from '../stores/bodies.ts';
import { endMessage, putMessage, putMessages } from '../stores/messages.ts';
import { log } from '../transport/log.ts';
import { sendPointer, sendPointers } from '../transport/queue.ts';

/** A message that is about to be accepted. */
export interface Draft {
  readonly message: Message;
  readonly body: Uint8Array;
}

/**
 * Accepts a message: when this returns, its row and the pointer to it are stored, and it will be delivered or end in
 * the dead letter queue. Both are written side by side; a worker that comes before the row looks again.
 *
 * @throws when either could not be stored. Nothing half-done is left: a pointer without a row is dropped by the worker,
 * a row without a pointer is ended here.
 */
export async function accept({ message, body }: Draft): Promise<void> {
  const stored = await storeBody(message, body, now());
  const [row, pointer] = await Promise.allSettled([
    putMessage(message, stored),
    sendPointer(message, 0, message.notBefore),
  ]);
  if (row.status === 'rejected') await reject(message, row.reason);
  if (pointer.status === 'rejected') await reject(message, pointer.reason);
}

/** Whichever write failed may have been done all the same, its answer lost on the way: the end row stops the worker. */
async function reject(message: Message, reason: unknown): Promise<never> {
  await endMessage(message, 'REJECTED', now());
  logRejection(message, reason);
  throw reason;
}

function logRejection({ messageId }: Message, reason: unknown): void {
  log.error('A message could not be stored and was not accepted', {
    messageId,
    error: reason instanceof Error ? reason : String(reason),
  });
}

/** How many bodies and ends are written at once. */
const atOnce = 20;
/** Rows that are written, and fail, together. */
const rowsTogether = 25;

/**
 * Accepts many messages with few calls: their rows first, 25 at a time, then their pointers, 10 at a time.
 *
 * @returns for each whether it was accepted. The others are to be taken back, or accepted again under the same ids:
 * whichever write failed may have been done all the same.
 */
export async function acceptEach(drafts: readonly Draft[]): Promise<readonly boolean[]> {
  const failures = new Map<Message, unknown>();
  const withBodies: { readonly message: Message; readonly stored: StoredBody }[] = [];
  await eachOf(drafts, atOnce, async ({ message, body }) => {
    try {
      withBodies.push({ message, stored: await storeBody(message, body, now()) });
    } catch (error) {
      failures.set(message, error);
    }
  });

  await eachOf(chunksOf(withBodies, rowsTogether), atOnce, async (chunk) => {
    try {
      await putMessages(chunk);
    } catch (error) {
      for (const { message } of chunk) failures.set(message, error);
    }
  });

  const written = withBodies.map(({ message }) => message).filter((message) => !failures.has(message));
  for (const [message, error] of await sendPointers(written)) failures.set(message, error);

  for (const [message, error] of failures) logRejection(message, error);
  return drafts.map(({ message }) => !failures.has(message));
}

/** Ends messages that could not be accepted, or were although others, which belong to them, were not. */
export async function takeBack(drafts: readonly Draft[]): Promise<void> {
  await eachOf(drafts, atOnce, async ({ message }) => {
    await endMessage(message, 'REJECTED', now());
  });
}
