/** Accepted messages as long as they are kept, whether they wait or have ended. */
import type { Account } from '../account/account.ts';
import { now } from '../shared/clock.ts';
import { notFound, quote } from '../error/httpError.ts';
import { loadBody } from '../message/bodies.ts';
import { loadMessage, type MessageHistory } from '../message/history.ts';

/** @throws HttpError 404 for one that is not there, or was not accepted */
export async function loadAccepted(account: Account, messageId: string): Promise<MessageHistory> {
  const history = await loadMessage({ accountId: account.id, messageId });
  if (history === undefined || history.end === 'REJECTED') {
    throw notFound(
      'message_not_found',
      `There is no message ${quote(messageId)}, or it is not kept any more.`,
    );
  }
  return history;
}

/**
 * Loads a message's body as long as it is kept. DynamoDB may need days to remove a row whose time is over; the body may be
 * gone before it.
 */
export const loadKeptBody = async ({ message, body }: MessageHistory): Promise<Uint8Array | undefined> =>
  message.expiresAt > now() ? loadBody(message.messageId, body) : undefined;
