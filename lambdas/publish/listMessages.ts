import type * as answers from '../wire/answers.ts';
import type { Answer } from '../wire/answers.ts';
import { longestPage, matches, mayMatch, type Filter } from '../wire/filters.ts';
import { filterable } from '../message/logEntries.ts';
import { listedRecord, reasonOf } from '../message/records.ts';
import type { Account } from '../account/account.ts';
import { timeOfId } from '../shared/ids.ts';
import { isOver } from '../message/message.ts';
import { waitingStates } from '../wire/states.ts';
import { statusOf } from '../message/status.ts';
import { loadMessage } from '../message/history.ts';
import { listMessages as listStored, type ListedMessage } from '../message/list.ts';
import { byAge, isBehind, isId, isNewer, shardsOf, type Ordered, type Range } from '../table/shards.ts';
import { limitedScan } from '../list/scans.ts';
import { listBudgetMs, loadedRows, merged, pageOf, rangeOf, show } from '../list/pages.ts';

interface Listed extends Ordered {
  readonly listed: Omit<ListedMessage, keyof Ordered | 'isOfRun'> | undefined;
}

const loadedAtOnce = 10;

async function* stored(account: Account, range: Range, { values }: Filter): AsyncGenerator<Listed> {
  const reason = values.has('error') ? ['response.error', 'response.body'] : [];
  const shards = shardsOf(account).map((shard) => listStored(shard, range, reason));
  for await (const listed of merged(shards, isNewer)) yield { id: listed.id, time: listed.time, listed };
}

function ofIds(account: Account, ids: ReadonlySet<string>, range: Range): AsyncIterable<Listed> {
  const rows = [...ids]
    .filter((id) => isId('msg', id))
    .map((id): Ordered => ({ id, time: timeOfId(id) }))
    .filter((row) => isBehind(row, range))
    .sort(byAge);
  return loadedRows(rows, loadedAtOnce, async (row) => ({
    ...row,
    listed: await loadMessage({ accountId: account.id, messageId: row.id }),
  }));
}

/** Lists messages, newest first: the waiting ones, unless the filter names states. */
export async function listMessages(
  account: Account,
  filter: Filter,
): Promise<Answer<typeof answers.messagePage>> {
  const scope = `${account.id}/listedMessages`;
  const range = await rangeOf(scope, filter);
  const limits = { count: filter.count ?? longestPage, budgetMs: listBudgetMs };
  const ids = filter.ids ?? filter.values.get('messageId');
  const rows =
    ids === undefined
      ? limitedScan(account.id, stored(account, range, filter))
      : ofIds(account, new Set(ids), range);

  const isWanted = (listed: NonNullable<Listed['listed']>, time: number): boolean => {
    if (listed.end === 'REJECTED') return false;
    // If ids are given, dates are ignored.
    if (filter.ids !== undefined) return true;
    const { fromDate = 0, toDate = Infinity } = filter;
    if (time < fromDate || time > toDate) return false;
    if (!mayMatch(filter, (name) => listed.textsOf?.(name))) return false;
    if (!filter.values.has('state') && isOver(listed)) return false;
    const { state } = statusOf(listed);
    if (!filter.values.has('state') && !waitingStates.some((one) => one === state)) return false;
    const response = listed.attempts.at(-1)?.response;
    const failure = { responseStatus: response?.status, errorOf: response && (() => reasonOf(response)) };
    return matches(filter, { ...filterable(listed.message), ...failure, state });
  };
  const page = await pageOf(rows, range, limits, ({ listed, time }) =>
    listed !== undefined && isWanted(listed, time) ? [listed] : [],
  );
  const { records, cursor } = await show(scope, page.entries, page.next, listedRecord);
  return { messages: records, cursor };
}
