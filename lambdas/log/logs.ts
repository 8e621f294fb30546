import {
  attemptEntries,
  cancelledEntries,
  createdEntry,
  eventOf,
  heldEntry,
  openEntry,
  type LogEntry,
} from '../message/logEntries.ts';
import type { Message } from '../message/message.ts';
import type { LogSubject } from '../message/message.ts';
import type { Account } from '../account/account.ts';
import type * as answers from '../wire/answers.ts';
import type { Answer } from '../wire/answers.ts';
import { largestAnswer } from '../wire/answerSize.ts';
import { matches, mayMatch, mostAtOnce, type Filter } from '../wire/filters.ts';
import type { LogState } from '../wire/states.ts';
import { settingsRecord } from '../message/records.ts';
import { findInBodies, listMessages, loadMessages, type LoggedMessage } from '../message/list.ts';
import { isMark, listHistory, listLate, listPrompt, type LogRow, type Mark } from '../message/log.ts';
import { precedes, shardsOf } from '../table/shards.ts';
import { limitedScan } from '../list/scans.ts';
import { searchedPage } from '../list/search.ts';
import { listBudgetMs, merged, orderedScope, pageOf, rangeOf, show, type Placed } from '../list/pages.ts';

type Source = LogRow | LoggedMessage | Mark;

const isMessage = (row: Exclude<Source, Mark>): row is LoggedMessage => 'message' in row;

function entriesOf(row: Exclude<Source, Mark>): readonly LogEntry[] {
  if (isMessage(row)) return row.end === 'REJECTED' ? [] : [createdEntry(row.message, row.time)];
  if (row.held !== undefined) return [heldEntry(row.subject, row.held, row.time)];
  if (row.open !== undefined) return [openEntry(row.subject, row.open)];
  return row.attempt === undefined
    ? cancelledEntries(row.subject, row.time)
    : attemptEntries(row.subject, row.attempt);
}

/** An entry, with its message if it was made from the message's own row. */
interface Found {
  readonly entry: LogEntry;
  readonly message: Message | undefined;
}

function wanted(row: Source, filter: Filter): readonly Found[] {
  if (isMark(row) || !mayMatch(filter, (name) => row.textsOf?.(name))) return [];
  const entries = entriesOf(row);
  const subject: LogSubject = isMessage(row)
    ? { ...row.message, flowControlKey: row.message.flowControl?.key }
    : row.subject;
  const message = isMessage(row) ? row.message : undefined;
  return (filter.order === 'earliestFirst' ? entries.toReversed() : entries).flatMap((entry) => {
    const { fromDate = 0, toDate = Infinity } = filter;
    const { state, time } = entry;
    const isWanted = time >= fromDate && time <= toDate && matches(filter, { ...subject, state });
    return isWanted ? [{ entry, message }] : [];
  });
}

/**
 * Decides which rows may have entries of the filter's states: the messages' own rows, or the records of
 * attempts and ends.
 */
function sourcesFor(filter: Filter): { readonly messages: boolean; readonly records: boolean } {
  const states = filter.values.get('state');
  if (states === undefined) return { messages: true, records: true };
  const created: LogState = 'CREATED';
  return { messages: states.has(created), records: [...states].some((state) => state !== created) };
}

/** An entry of the log, with its message if that was read. */
type Logged = readonly [entry: LogEntry, message: Message | undefined];

/** @throws HttpError 400 for a cursor of another list or order */
export const listLogs = (account: Account, filter: Filter): Promise<Answer<typeof answers.logPage>> =>
  listed(account, filter, ([entry]) => entry, 1);

/** Makes a page for older clients, which expect the field `events` and other names. */
export async function listEvents(
  account: Account,
  filter: Filter,
): Promise<Answer<typeof answers.eventPage>> {
  const page = await listed(account, filter, ([entry, message]) => eventOf(entry, message), 2);
  return { ...page, events: page.logs };
}

interface ListedLog<E> {
  readonly cursor: string | undefined;
  readonly searched: number | undefined;
  readonly logs: readonly E[];
}

/**
 * Makes a page of the log, in the filter's order. The entry ACTIVE of an attempt and its outcome are recorded
 * together when it ends, and are shown together.
 *
 * @param shown makes the record of an entry
 * @param copies how often the answer repeats each entry
 */
async function listed<E>(
  account: Account,
  filter: Filter,
  shown: (logged: Logged) => E,
  copies: number,
): Promise<ListedLog<E>> {
  const scope = orderedScope(`${account.id}/logs`, filter.order);
  // If ids are given, all other filters are ignored.
  const applied: Filter = filter.ids
    ? { ...filter, fromDate: undefined, toDate: undefined, bodyTexts: undefined, values: new Map() }
    : filter;
  const range = await rangeOf(scope, applied);
  const count = filter.count ?? mostAtOnce.logs;
  const ids = [...new Set(filter.ids ?? filter.values.get('messageId'))];

  const needed = sourcesFor(applied);
  const sources: AsyncIterator<Source>[] =
    ids.length > 0
      ? ids.map((messageId) => listHistory(account.id, messageId, range))
      : shardsOf(account).flatMap((shard) => [
          ...(needed.messages ? [listMessages(shard, range)] : []),
          ...(needed.records ? [listLate(shard, range), listPrompt(shard, range)] : []),
        ]);
  const rows = limitedScan(account.id, merged(sources, precedes(filter.order)));
  const entriesOf = (row: Source): readonly Found[] => wanted(row, applied);
  const { bodyTexts } = applied;
  const page =
    bodyTexts === undefined
      ? await pageOf(rows, range, { count, budgetMs: listBudgetMs, least: count }, entriesOf)
      : await searchedPage(rows, range, count, entriesOf, foundIn(account.id, bodyTexts));
  const logged = await withMessages(account, page.entries);
  const most = largestAnswer / copies;
  const { records, cursor } = await show(scope, logged, page.next, shown, most);
  return { logs: records, cursor, searched: page.searched };
}

/**
 * Makes a function that finds the entries whose messages' bodies contain one of the texts. Each body is read
 * once.
 */
function foundIn(accountId: string, texts: readonly string[]) {
  const known = new Map<string, boolean>();
  return async (some: readonly Found[]): Promise<ReadonlySet<Found>> => {
    const ids = new Set(some.map(({ entry }) => entry.messageId).filter((id) => !known.has(id)));
    const found = await findInBodies(accountId, [...ids], texts);
    for (const id of ids) known.set(id, found.has(id));
    return new Set(some.filter(({ entry }) => known.get(entry.messageId) === true));
  };
}

/**
 * Adds the messages' settings. Rows of attempts do not repeat them, because they are written twice, once for
 * the index, and billed by size. So a page reads the messages' rows, a hundred with one call.
 */
async function withMessages(
  account: Account,
  found: readonly Placed<Found>[],
): Promise<readonly Placed<Logged>[]> {
  const without = found.flatMap(({ entry: { entry, message } }) => (message ? [] : [entry.messageId]));
  const messages = await loadMessages(account.id, [...new Set(without)]);
  return found.map(({ entry: { entry, message }, place }) => {
    if (message !== undefined) return { entry: [entry, message], place };
    const loaded = messages.get(entry.messageId);
    return { entry: [loaded ? { ...entry, ...settingsRecord(loaded) } : entry, loaded], place };
  });
}
