import type { Account } from '../domain/account.ts';
import type * as answers from '../domain/answers.ts';
import type { Answer } from '../domain/answers.ts';
import { now } from '../domain/clock.ts';
import { longestPage, matches, type Filter } from '../domain/filters.ts';
import { notFound, quote } from '../domain/httpError.ts';
import { eachOf } from '../domain/lists.ts';
import type { Message } from '../domain/message.ts';
import { bodyRecord, filterable, messageRecord } from '../domain/records.ts';
import { loadBody } from '../stores/bodies.ts';
import {
  endMessage,
  listMessages,
  loadMessage,
  type LastAttempt,
  type MessageHistory,
} from '../stores/messages.ts';
import { shardsOf } from '../stores/shards.ts';
import { isFarFrom, withdrawFar } from '../transport/queue.ts';
import { isNewer, merged, pageOf, rangeOf } from './pages.ts';

/** Whether a message will see no further attempt. */
export const isOver = ({ attempts, end }: MessageHistory): boolean =>
  end !== undefined || attempts.some(({ state }) => state !== 'RETRY');

const noSuchMessage = (messageId: string): Error =>
  notFound(`There is no message ${quote(messageId)} that waits for its delivery.`);

async function loadWaiting(account: Account, messageId: string): Promise<MessageHistory> {
  const history = await loadMessage({ accountId: account.id, messageId });
  if (history === undefined || isOver(history)) throw noSuchMessage(messageId);
  return history;
}

/** @throws HttpError 404 for one that is not there, or was delivered, failed or cancelled */
export async function getMessage(
  account: Account,
  messageId: string,
): Promise<Answer<typeof answers.message>> {
  const history = await loadWaiting(account, messageId);
  const { message, attempts } = history;
  const body = await loadBody(messageId, history.body);
  return {
    ...messageRecord(message),
    ...bodyRecord(body, message.redaction),
    retried: attempts.length,
    nextDeliveryTime: attempts.at(-1)?.nextDeliveryAt ?? message.notBefore,
  };
}

/**
 * Withdraws a message: no attempt starts after this. One that is in flight may still arrive.
 *
 * @throws HttpError 404 for one that is not there, or was delivered, failed or cancelled
 */
export async function cancelMessage(account: Account, messageId: string): Promise<void> {
  const { message, attempts } = await loadWaiting(account, messageId);
  if (!(await withdraw(message, attempts.at(-1)))) throw noSuchMessage(messageId);
}

/**
 * Ends a message, and takes back the pointer to its next attempt where Scheduler keeps it. A pointer that is not taken
 * back finds the end.
 *
 * @returns whether it had not ended before
 */
async function withdraw(message: Message, last: LastAttempt | undefined): Promise<boolean> {
  const isFirst = await endMessage(message, 'CANCELLED', now());
  const sentAt = last?.recordedAt ?? message.createdAt;
  const dueAt = last?.nextDeliveryAt ?? message.notBefore;
  if (isFirst && isFarFrom(sentAt, dueAt)) {
    await withdrawFar(message.messageId, last === undefined ? 0 : last.number + 1);
  }
  return isFirst;
}

/** How long a bulk operation goes on before it says where it stopped. */
export const bulkBudgetMs = 20_000;
/** How many entries a bulk operation works on at once. */
export const bulkAtOnce = 10;

/**
 * Withdraws messages by their ids, or all that match a filter. Safe to repeat.
 *
 * @returns how many were withdrawn, and a cursor when the time did not suffice for all
 */
export async function cancelMessages(
  account: Account,
  filter: Filter,
): Promise<Answer<typeof answers.cancelled>> {
  let cancelled = 0;
  if (filter.ids !== undefined) {
    await eachOf([...new Set(filter.ids)], bulkAtOnce, async (messageId) => {
      const history = await loadMessage({ accountId: account.id, messageId });
      if (history === undefined || isOver(history)) return;
      if (await withdraw(history.message, history.attempts.at(-1))) cancelled += 1;
    });
    return { cancelled };
  }

  const scope = `${account.id}/messages`;
  const range = await rangeOf(scope, filter);
  const rows = merged(
    shardsOf(account.id).map((shard) => listMessages(shard, range)),
    isNewer,
  );
  // The published clients send the longest page's length where they mean all.
  const count = filter.count === undefined || filter.count === longestPage ? Infinity : filter.count;
  const page = await pageOf(scope, rows, range, { count, budgetMs: bulkBudgetMs / 2 }, (row) =>
    !row.isOver && matches(filter, filterable(row.message)) ? [row] : [],
  );
  await eachOf(page.entries, bulkAtOnce, async ({ message, last }) => {
    if (await withdraw(message, last)) cancelled += 1;
  });
  return { cancelled, cursor: page.cursor };
}
