import {
  attemptEntries,
  cancelledEntries,
  createdEntry,
  heldEntry,
  type LogEntry,
} from '../../api/logEntries.ts';
import type { LogSubject } from '../../domain/log/logSubject.ts';
import type { Account } from '../../domain/account/account.ts';
import type * as answers from '../../api/answers.ts';
import type { Answer } from '../../api/answers.ts';
import { largestAnswer } from '../../api/answerSize.ts';
import { longestPage, matches, type Filter } from '../../api/filters.ts';
import type { LogState } from '../../domain/log/logStates.ts';
import { settingsRecord } from '../../api/records.ts';
import { listMessages, loadMessages, type LoggedMessage } from '../../stores/message/list.ts';
import { listHistory, listLog, type LogRow } from '../../stores/message/log.ts';
import { isNewer, shardsOf } from '../../stores/shards.ts';
import { listBudgetMs, merged, pageOf, rangeOf, show } from '../pages.ts';

type Source = LogRow | LoggedMessage;

const isMessage = (row: Source): row is LoggedMessage => 'message' in row;

function entriesOf(row: Source): readonly LogEntry[] {
  if (isMessage(row)) return row.end === 'REJECTED' ? [] : [createdEntry(row.message, row.time)];
  if (row.held !== undefined) return [heldEntry(row.subject, row.held, row.time)];
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

/** Finds the sources that can have entries of the filter's states: messages' own rows, or records of attempts and ends. */
function sourcesFor(filter: Filter): { readonly messages: boolean; readonly records: boolean } {
  const states = filter.values.get('state');
  if (states === undefined) return { messages: true, records: true };
  const created: LogState = 'CREATED';
  return { messages: states.has(created), records: [...states].some((state) => state !== created) };
}

/**
 * Makes a page of the log, newest first. The entries of an attempt, ACTIVE and its outcome, are recorded together when it
 * ends, and stand together.
 *
 * @param copies how often the answer repeats each entry
 */
export async function listLogs(
  account: Account,
  filter: Filter,
  copies = 1,
): Promise<Answer<typeof answers.logPage>> {
  const scope = `${account.id}/logs`;
  // Where ids are given, no other filter counts.
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
      : shardsOf(account).flatMap((shard) => [
          ...(needed.messages ? [listMessages(shard, range)] : []),
          ...(needed.records ? [listLog(shard, range)] : []),
        ]);
  const page = await pageOf(merged(sources, isNewer), range, limits, (row) => wanted(row, applied));
  const withSettings = await settingsOf(
    account,
    page.entries.map(({ entry }) => entry),
  );
  const most = largestAnswer / copies;
  const { records, cursor } = await show(scope, page.entries, page.next, withSettings, most);
  return { logs: records, cursor };
}

/**
 * Makes the function that adds their messages' settings to entries. The rows of attempts do not repeat the settings: they
 * are written twice, once for the index, and are billed by size. So the settings of a page are read from the messages' own
 * rows, with one call.
 */
async function settingsOf(
  account: Account,
  entries: readonly LogEntry[],
): Promise<(entry: LogEntry) => LogEntry> {
  const without = entries.filter(({ maxRetries }) => maxRetries === undefined);
  const messages = await loadMessages(account.id, [...new Set(without.map(({ messageId }) => messageId))]);
  return (entry) => {
    const message = messages.get(entry.messageId);
    return message === undefined ? entry : { ...entry, ...settingsRecord(message) };
  };
}
