/** The entries that an operation selects, and those of its next step. */
import type { Account } from '../account/account.ts';
import { isOfMessage, isOfRun, selection as deadLetters } from '../deadLetter/deadLetters.ts';
import { countBudgetMs, pageOf } from '../list/pages.ts';
import { rowsWithoutSlot } from '../list/scans.ts';
import { deliveries } from '../log/deliveries.ts';
import { selection as messages } from '../publish/cancel.ts';
import type { Header } from '../shared/headers.ts';
import type { Ordered, Range } from '../table/shards.ts';
import type { BulkOperation } from '../wire/bulkAnswers.ts';
import { activeRuns } from '../workflow/logs.ts';
import { filterOf, readFilter } from './filters.ts';
import type { Bulk } from './store/rows.ts';

interface Selection<T> {
  readonly rows: AsyncIterable<T>;
  /** @returns undefined if the filter does not select the row */
  readonly selected: (row: T) => unknown;
  /** The entry's name; by default the row's id. */
  readonly nameOf?: (row: T) => string;
}

interface Entry extends Ordered {
  /** Undefined if the filter does not select the row. */
  readonly name: string | undefined;
}

async function* entriesOf<T extends Ordered>({
  rows,
  selected,
  nameOf = ({ id }) => id,
}: Selection<T>): AsyncGenerator<Entry> {
  for await (const row of rows) {
    const { time, id } = row;
    yield { time, id, name: selected(row) === undefined ? undefined : nameOf(row) };
  }
}

async function entriesIn(
  account: Account,
  operation: BulkOperation,
  filter: ReturnType<typeof filterOf> & Range,
): Promise<AsyncIterable<Entry>> {
  if ('runIds' in filter) return entriesOf(activeRuns(account, filter));
  if (operation === 'messages.publish') return entriesOf(deliveries(account, filter));
  if (operation === 'messages.cancel') return entriesOf(await messages(account, filter));
  if (operation.startsWith('dlq.')) return entriesOf(await deadLetters(account, filter, isOfMessage));
  return entriesOf(await deadLetters(account, filter, isOfRun));
}

export const byId = ({ operation, ids }: Bulk): readonly Header[] =>
  ids.map((id) => [operation === 'messages.cancel' ? 'messageIds' : 'dlqIds', id]);

export async function leftOf(account: Account, bulk: Bulk): Promise<readonly string[]> {
  const { operation, ids } = bulk;
  // For these operations all ids are returned, because repeating them finds out what was done.
  if (operation === 'messages.publish' || operation === 'runs.cancel') return ids;
  const left: string[] = [];
  for await (const { name } of await entriesIn(account, operation, readFilter(operation, byId(bulk))))
    if (name !== undefined) left.push(name);
  return left;
}

/** Finds the entries of the next step in a few pages of the list. */
export async function findNext(account: Account, bulk: Bulk, count: number) {
  const { operation, query, createdAt, behind, isRead } = bulk;
  if (isRead) return { ids: [], behind, isRead };
  const filter = filterOf(operation, query);
  const toDate = Math.min(filter.toDate ?? createdAt, createdAt);
  const entries = await entriesIn(account, operation, { ...filter, toDate, behind });
  let read = 0;
  // Reading more rows would need one of the account's slots for long reads.
  const isReached = (): boolean => (read += 1) >= rowsWithoutSlot;
  const limits = { count, budgetMs: countBudgetMs, isReached };
  const page = await pageOf(entries, {}, limits, ({ name }) => (name === undefined ? [] : [name]));
  return { ids: page.entries.map(({ entry }) => entry), behind: page.next, isRead: page.next === undefined };
}
