import { filterable } from '../message/logEntries.ts';
import type { Account } from '../account/account.ts';
import type * as answers from '../wire/answers.ts';
import type { Answer } from '../wire/answers.ts';
import { longestPage, matches, mayMatch, type Filter } from '../wire/filters.ts';
import { clockMarginMs, now } from '../shared/clock.ts';
import { badRequest, quote } from '../error/httpError.ts';
import { eachOf } from '../shared/lists.ts';
import { isOver } from '../message/message.ts';
import { loadMessage } from '../message/history.ts';
import { listMessages, type ListedMessage } from '../message/list.ts';
import { isNewer, shardsOf, type Ordered, type Range } from '../table/shards.ts';
import { bulkBudgetMs, countEach, idRows, loadedRows, merged, onEach, rangeOf } from '../list/pages.ts';
import { limitedScan, rowsWithoutSlot } from '../list/scans.ts';
import { withdraw } from './withdraw.ts';
import { loadWaiting, noSuchMessage } from './messages.ts';

const atOnce = 10;

/**
 * Cancels a message. An attempt in flight may still arrive.
 *
 * @throws HttpError 404 for a message that does not exist or is over; 400 for one of a run, which would wait for it forever
 */
export async function cancelMessage(account: Account, messageId: string): Promise<void> {
  const history = await loadWaiting(account, messageId);
  const { message } = history;
  if (message.workflow !== undefined) {
    throw badRequest(
      'message_of_run',
      `The message ${quote(messageId)} belongs to the run ${quote(message.workflow.runId)}; cancel the run.`,
    );
  }
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
 * @returns the rows, newest first or in the order of the filter's ids; and `selected`, which gives a row's message if it is to
 *   be cancelled
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
  // Few rows are parsed whole, because some attributes must match first.
  const isWanted = (found: Withdrawable): boolean =>
    filter.values.size === 0 ||
    (mayMatch(filter, (name) => found.textsOf?.(name)) && matches(filter, filterable(found.message)));
  const selected = ({ found }: Candidate): Withdrawable | undefined =>
    found !== undefined &&
    !isOver(found) &&
    // Messages of a run are cancelled with the run.
    !found.isOfRun &&
    (filter.ids !== undefined || isWanted(found))
      ? found
      : undefined;
  return { scope, rows, selected };
}

/** Published clients send a count of 100, a page's length, to mean all. */
const mostOf = ({ ids, count }: Filter): number =>
  ids !== undefined || count === undefined || count === longestPage ? Infinity : count;

/**
 * Can be repeated.
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

/** As many messages as a request reads without a slot for long reads. */
const lookedAt = rowsWithoutSlot;
/** Clocks differ, so messages this recent may be older than the deletion. All of them are read. */
const ambiguousMs = 3 * clockMarginMs;

/** Older messages, and those for which there is no time, are cancelled when they are due. */
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

export async function countMessages(
  account: Account,
  filter: Filter,
): Promise<Answer<typeof answers.counted>> {
  const { scope, rows, selected } = await selection(account, filter);
  return countEach(scope, rows, selected);
}
