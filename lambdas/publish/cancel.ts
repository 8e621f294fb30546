import { matchesFilter } from '../message/logEntries.ts';
import type { Account } from '../account/account.ts';
import type * as answers from '../wire/answers.ts';
import type { Answer } from '../wire/answers.ts';
import { longestPage, type Filter } from '../wire/filters.ts';
import { clockMarginMs, now, secondMs } from '../shared/clock.ts';
import { eachOf } from '../shared/lists.ts';
import { isOver } from '../message/message.ts';
import { loadMessage } from '../message/history.ts';
import { listMessages, type ListedMessage } from '../message/list.ts';
import { isNewer, shardsOf, type Ordered, type Range } from '../table/shards.ts';
import {
  bulkBudgetMs,
  countBudgetMs,
  countEach,
  idRows,
  loadedRows,
  merged,
  onEach,
  rangeOf,
} from '../list/pages.ts';
import { limitedScan, rowsWithoutSlot } from '../list/scans.ts';
import { countCancellable, oldestOpen, totalOf, type PerKind } from '../waiting/count.ts';
import { withdraw } from './withdraw.ts';
import { loadWaiting, ofRun, noSuchMessage } from './messages.ts';

const atOnce = 10;

/**
 * Cancels a message. An attempt in flight may still arrive.
 *
 * @throws HttpError 404 for a message that does not exist or is over; 400 for a message of a run, which would
 * wait for it forever
 */
export async function cancelMessage(account: Account, messageId: string): Promise<void> {
  const history = await loadWaiting(account, messageId);
  const { message } = history;
  if (message.workflow !== undefined) throw ofRun(messageId, message.workflow);
  if (!(await withdraw(history))) throw noSuchMessage(messageId);
}

type Withdrawable = Pick<ListedMessage, 'message' | 'attempts' | 'open' | 'end' | 'isOfRun' | 'textsOf'>;

interface Candidate extends Ordered {
  readonly found: Withdrawable | undefined;
}

async function* listed(account: Account, range: Range): AsyncGenerator<Candidate> {
  const shards = shardsOf(account).map((shard) => listMessages(shard, range));
  for await (const found of merged(shards, isNewer)) yield { id: found.id, time: found.time, found };
}

/**
 * @returns the rows, newest first or in the order of the filter's ids; and `selected`, which returns a row's
 * message if it is to be cancelled
 */
export async function selection(account: Account, filter: Filter) {
  const scope = `${account.id}/messages`;
  const range = await rangeOf(scope, filter);
  const rows: AsyncIterable<Candidate> =
    filter.ids === undefined
      ? limitedScan(account.id, listed(account, range))
      : loadedRows(idRows(filter.ids, range.behind), atOnce, async (row) => {
          const found = await loadMessage({ accountId: account.id, messageId: row.id });
          return { ...row, found: found && { ...found, isOfRun: found.message.workflow !== undefined } };
        });
  const selected = ({ found }: Candidate): Withdrawable | undefined =>
    found !== undefined &&
    !isOver(found) &&
    // Messages of a run are cancelled with the run.
    !found.isOfRun &&
    (filter.ids !== undefined || matchesFilter(filter, found))
      ? found
      : undefined;
  return { scope, rows, selected };
}

/** Published clients send a count of 100, the length of a page, and mean all messages. */
const mostOf = ({ ids, count }: Filter): number =>
  ids !== undefined || count === undefined || count === longestPage ? Infinity : count;

/**
 * Cancels messages. Can be repeated.
 *
 * @returns the number cancelled, and a cursor if the time ran out
 */
export async function cancelMessages(
  account: Account,
  filter: Filter,
): Promise<Answer<typeof answers.cancelled>> {
  const { scope, rows, selected } = await selection(account, filter);
  let cancelled = 0;
  const limits = { count: mostOf(filter), atOnce };
  const cursor = await onEach(scope, rows, limits, selected, (some) =>
    eachOf(some, atOnce, async (one) => {
      if (await withdraw(one)) cancelled += 1;
    }),
  );
  return { cancelled, cursor };
}

/** The most messages that a request reads without a slot for long reads. */
const lookedAt = rowsWithoutSlot;
/** Clocks differ, so a message this young may be older than the deletion. All of these are read. */
const ambiguousMs = 3 * clockMarginMs;

/**
 * Cancels delayed messages of a deleted queue. Those that are too old, or for which the time is too short,
 * are cancelled when they are due.
 */
export async function cancelDelayed(account: Account, queueName: string): Promise<void> {
  const until = now() + bulkBudgetMs;
  const since = now() - ambiguousMs;
  const delayed: Withdrawable[] = [];
  let read = 0;
  for await (const { found, time } of listed(account, {})) {
    read += 1;
    if (read > lookedAt && time < since) break;
    if (found?.message.queueName !== queueName || found.message.notBefore <= now()) continue;
    if (!isOver(found)) delayed.push(found);
  }
  await eachOf(delayed, atOnce, async (one) => {
    if (now() <= until) await withdraw(one);
  });
}

/**
 * A process that has counted before needs only milliseconds. Otherwise the messages are read as for a
 * cancellation.
 */
const memoryBudgetMs = 4 * secondMs;
const mostAwaited = 5;

interface ByState {
  readonly states: PerKind;
  readonly awaited: ReturnType<typeof oldestOpen>;
}

/**
 * Counts the messages that a cancellation would cancel.
 *
 * @param isByState whether to count each state, if the count is exact
 */
export async function countMessages(
  account: Account,
  filter: Filter,
  isByState = false,
): Promise<Answer<typeof answers.counted> & Partial<ByState>> {
  const begunAt = now();
  if (filter.ids === undefined && filter.cursor === undefined) {
    const states = await countCancellable(account, filter, begunAt + memoryBudgetMs);
    if (states !== undefined) {
      const awaited = oldestOpen(account, filter, mostAwaited);
      return { count: totalOf(states), ...(isByState && { states, awaited }) };
    }
  }
  const { scope, rows, selected } = await selection(account, filter);
  return countEach(scope, rows, selected, undefined, begunAt + countBudgetMs);
}
