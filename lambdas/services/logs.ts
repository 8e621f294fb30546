import type { Account } from '../domain/account.ts';
import type * as answers from '../domain/answers.ts';
import type { Answer } from '../domain/answers.ts';
import { longestPage, matches, type Filter, type LogState } from '../domain/filters.ts';
import {
  attemptEntries,
  cancelledEntries,
  createdEntry,
  type LogEntry,
  type LogSubject,
} from '../domain/records.ts';
import { listHistory, listLog, listMessages, type LoggedMessage, type LogRow } from '../stores/messages.ts';
import { shardsOf } from '../stores/shards.ts';
import { isNewer, merged, pageOf, rangeOf } from './pages.ts';

/** How long a list goes on where few entries match. */
export const listBudgetMs = 5_000;

type Source = LogRow | LoggedMessage;

const isMessage = (row: Source): row is LoggedMessage => 'message' in row;

function entriesOf(row: Source): readonly LogEntry[] {
  if (isMessage(row)) return row.end === 'REJECTED' ? [] : [createdEntry(row.message, row.time)];
  return row.attempt === undefined
    ? cancelledEntries(row.subject, row.time)
    : attemptEntries(row.subject, row.attempt);
}

function wanted(row: Source, filter: Filter): readonly LogEntry[] {
  const subject: LogSubject = isMessage(row)
    ? { ...row.message, flowControlKey: row.message.flowControl?.key }
    : row.subject;
  return entriesOf(row).filter(({ state, time }) => {
    const { fromDate = 0, toDate = Infinity } = filter;
    return time >= fromDate && time <= toDate && matches(filter, { ...subject, state });
  });
}

/** States that only messages' own rows give, and that only what was recorded gives. */
function sourcesFor(filter: Filter): { readonly messages: boolean; readonly records: boolean } {
  const states = filter.values.get('state');
  if (states === undefined) return { messages: true, records: true };
  const created: LogState = 'CREATED';
  return { messages: states.has(created), records: [...states].some((state) => state !== created) };
}

/**
 * A page of the log, newest first. An attempt's entries, ACTIVE and what became of it, are recorded together when it
 * ends, and stand together.
 */
export async function listLogs(account: Account, filter: Filter): Promise<Answer<typeof answers.logPage>> {
  const scope = `${account.id}/logs`;
  // Ids given make every other filter ignored.
  const applied: Filter = filter.ids
    ? { ...filter, fromDate: undefined, toDate: undefined, values: new Map() }
    : filter;
  const range = await rangeOf(scope, applied);
  const limits = { count: filter.count ?? longestPage, budgetMs: listBudgetMs };
  const ids = [...new Set(filter.ids ?? filter.values.get('messageId'))];

  const needed = sourcesFor(applied);
  const sources: AsyncIterator<Source>[] =
    ids.length > 0
      ? ids.map((messageId) => listHistory(account.id, messageId, range))
      : shardsOf(account.id).flatMap((shard) => [
          ...(needed.messages ? [listMessages(shard, range)] : []),
          ...(needed.records ? [listLog(shard, range)] : []),
        ]);
  const page = await pageOf(scope, merged(sources, isNewer), range, limits, (row) => wanted(row, applied));
  return { logs: page.entries, cursor: page.cursor };
}
