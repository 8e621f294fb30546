import { filterable } from '../message/logEntries.ts';
import type { Account } from '../account/account.ts';
import type * as answers from '../wire/answers.ts';
import type { Answer } from '../wire/answers.ts';
import { fitting } from '../wire/answerSize.ts';
import { now } from '../shared/clock.ts';
import { longestPage, matches, type Filter } from '../wire/filters.ts';
import { badRequest, notFound, quote } from '../error/httpError.ts';
import { eachOf } from '../shared/lists.ts';
import { isOver, type Message } from '../message/message.ts';
import { bodyRecord, messageRecord, statusRecord } from '../message/records.ts';
import { count } from '../aws/metrics.ts';
import { loadBody } from '../message/bodies.ts';
import { loadMessage, type MessageHistory } from '../message/history.ts';
import { listMessages, type ListedMessage } from '../message/list.ts';
import { endMessage } from '../message/messages.ts';
import type { LastAttempt } from '../message/rows.ts';
import { isNewer, shardsOf, type Ordered, type Range } from '../table/shards.ts';
import { isFarFrom, withdrawFar } from '../job/send.ts';
import { callbackIdsOf, dlqIdOf } from '../message/consequenceIds.ts';
import { withdrawFromLanes } from '../lane/withdrawFromLanes.ts';
import { countEach, idRows, loadedRows, merged, onEach, rangeOf } from '../list/pages.ts';
import { limitedScan } from '../list/scans.ts';
import { loadAccepted, loadKeptBody } from './kept.ts';

const noSuchMessage = (messageId: string): Error =>
  notFound('message_not_found', `There is no message ${quote(messageId)} that waits for its delivery.`);

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
  return fitting((bodies) => ({
    ...messageRecord(message),
    ...bodyRecord(body, message.redaction, bodies),
    retried: attempts.length,
    nextDeliveryTime: attempts.at(-1)?.nextDeliveryAt ?? message.notBefore,
  }));
}

/**
 * Reads a message whether it waits or has ended, with its body as long as that is kept.
 *
 * @throws HttpError 404 for one that is not there
 */
export async function getMessageInAnyState(
  account: Account,
  messageId: string,
): Promise<Answer<typeof answers.messageInAnyState>> {
  const history = await loadAccepted(account, messageId);
  const { message, attempts } = history;
  const last = attempts.at(-1);
  const body = await loadKeptBody(history);
  return fitting((bodies) => ({
    ...messageRecord(message),
    ...(body && bodyRecord(body, message.redaction, bodies)),
    ...statusRecord(history),
    callbackIds: attempts.flatMap((attempt) => callbackIdsOf({ history, attempt })),
    // The dead letter of a run is not that of a message.
    dlqId:
      last?.state === 'FAILED' && message.workflow === undefined ? dlqIdOf(history, last.number) : undefined,
  }));
}

/**
 * Withdraws a message: no attempt starts after this. One that is in flight may still arrive.
 *
 * @throws HttpError 404 for one that is not there, or was delivered, failed or cancelled; 400 for one of a workflow's run, which
 * would wait for it for ever
 */
export async function cancelMessage(account: Account, messageId: string): Promise<void> {
  const { message, attempts } = await loadWaiting(account, messageId);
  if (message.workflow !== undefined) {
    throw badRequest(
      'message_of_run',
      `The message ${quote(messageId)} belongs to the run ${quote(message.workflow.runId)}; cancel the run.`,
    );
  }
  if (!(await withdraw(message, attempts.at(-1)))) throw noSuchMessage(messageId);
}

/**
 * Ends a message, and takes back its next attempt where Scheduler keeps it. The worker of an attempt that is not taken back
 * finds the end.
 *
 * @returns whether it had not ended before
 */
export async function withdraw(message: Message, last: LastAttempt | undefined): Promise<boolean> {
  const isFirst = await endMessage(message, 'CANCELED', now());
  const sentAt = last?.recordedAt ?? message.createdAt;
  const dueAt = last?.nextDeliveryAt ?? message.notBefore;
  if (!isFirst) return false;
  count('Cancelled');
  await withdrawFromLanes(message, last);
  if (isFarFrom(sentAt, dueAt)) {
    await withdrawFar(message.messageId, last === undefined ? 0 : last.number + 1);
  }
  return true;
}

/** Entries that a bulk operation works on at once. */
export const bulkAtOnce = 10;

/** A message as far as it must be known to be withdrawn. */
type Withdrawable = Pick<ListedMessage, 'message' | 'attempts' | 'end'>;

/** A row among which messages to withdraw are; one whose id is that of no message has none. */
interface Candidate extends Ordered {
  readonly found: Withdrawable | undefined;
}

async function* listed(account: Account, range: Range): AsyncGenerator<Candidate> {
  const shards = shardsOf(account).map((shard) => listMessages(shard, range));
  for await (const found of merged(shards, isNewer)) yield { id: found.id, time: found.time, found };
}

/**
 * Begins to read the messages that a bulk cancellation cancels.
 *
 * @returns the rows among which they are, newest first or in the order of the filter's ids; and `selected`, which gives a
 * row's message, or undefined where it is not to be cancelled
 */
async function selection(account: Account, filter: Filter) {
  const scope = `${account.id}/messages`;
  const range = await rangeOf(scope, filter);
  const rows: AsyncIterable<Candidate> =
    filter.ids === undefined
      ? limitedScan(account.id, listed(account, range))
      : loadedRows(idRows(filter.ids, range.behind), bulkAtOnce, async (row) => ({
          ...row,
          found: await loadMessage({ accountId: account.id, messageId: row.id }),
        }));
  const selected = ({ found }: Candidate): Withdrawable | undefined =>
    found !== undefined &&
    !isOver(found) &&
    // Those of runs are cancelled with their run.
    found.message.workflow === undefined &&
    (filter.ids !== undefined || matches(filter, filterable(found.message)))
      ? found
      : undefined;
  return { scope, rows, selected };
}

/** The most messages that are cancelled. The published clients send a count of 100, the length of a page, where they mean all. */
const mostOf = ({ ids, count }: Filter): number =>
  ids !== undefined || count === undefined || count === longestPage ? Infinity : count;

/**
 * Withdraws messages by their ids, or all that match a filter. Safe to repeat.
 *
 * @returns the number of messages withdrawn, and a cursor when the time did not suffice for all
 */
export async function cancelMessages(
  account: Account,
  filter: Filter,
): Promise<Answer<typeof answers.cancelled>> {
  const { scope, rows, selected } = await selection(account, filter);
  let cancelled = 0;
  const limits = { count: mostOf(filter), atOnce: bulkAtOnce };
  const cursor = await onEach(scope, rows, limits, selected, (some) =>
    eachOf(some, bulkAtOnce, async ({ message, attempts }) => {
      if (await withdraw(message, attempts.at(-1))) cancelled += 1;
    }),
  );
  return { cancelled, cursor };
}

/** Counts the messages that a bulk cancellation would cancel. */
export async function countMessages(
  account: Account,
  filter: Filter,
): Promise<Answer<typeof answers.counted>> {
  const { scope, rows, selected } = await selection(account, filter);
  return countEach(scope, rows, selected);
}
