import type { Account } from '../account/account.ts';
import {
  deleteDeadLetters,
  isOfMessage,
  isOfRun,
  selection as deadLetters,
} from '../deadLetter/deadLetters.ts';
import { countBudgetMs, pageOf } from '../list/pages.ts';
import { rowsWithoutSlot } from '../list/scans.ts';
import { cancelMessages, selection as messages } from '../publish/cancel.ts';
import { retryDeadLetters } from '../publish/retryDeadLetters.ts';
import type { Header } from '../shared/headers.ts';
import type { Ordered } from '../table/shards.ts';
import type { BulkOperation } from '../wire/bulkAnswers.ts';
import { parseFilter, type Filter } from '../wire/filters.ts';
import { deleteRunDeadLetters } from '../workflow/deadLetters.ts';
import { restartRuns, resumeRuns } from '../workflow/resume.ts';
import { filterOf, listOf } from './filters.ts';
import type { Bulk } from './store/rows.ts';

interface Selection<T> {
  readonly rows: AsyncIterable<T>;
  /** Undefined if the filter does not select the row. */
  readonly selected: (row: T) => unknown;
}

interface Entry extends Ordered {
  readonly isSelected: boolean;
}

async function* entriesOf<T extends Ordered>({ rows, selected }: Selection<T>): AsyncGenerator<Entry> {
  for await (const row of rows) yield { time: row.time, id: row.id, isSelected: selected(row) !== undefined };
}

export async function entriesIn(list: ReturnType<typeof listOf>, account: Account, filter: Filter) {
  if (list === 'messages') return entriesOf(await messages(account, filter));
  if (list === 'dlq') return entriesOf(await deadLetters(account, filter, isOfMessage));
  return entriesOf(await deadLetters(account, filter, isOfRun));
}

interface Answered {
  readonly cancelled?: number;
  readonly deleted?: number;
  readonly responses?: readonly unknown[];
  readonly workflowRuns?: readonly unknown[];
  readonly cursor?: string | undefined;
}

interface Operation {
  /** Entries in a step: a step takes seconds, so that others get their turn, and few of its bodies are in memory. */
  readonly atOnce: number;
  readonly request: (account: Account, ids: readonly Header[], bulk: Bulk) => Promise<Answered>;
}

export const operations: Readonly<Record<BulkOperation, Operation>> = {
  'messages.cancel': {
    atOnce: 100,
    request: (account, ids) => cancelMessages(account, parseFilter('messages', ids)),
  },
  'dlq.retry': {
    atOnce: 20,
    request: (account, ids, bulk) => retryDeadLetters(account, parseFilter('dlq', ids), bulk),
  },
  'dlq.delete': {
    atOnce: 100,
    request: (account, ids) => deleteDeadLetters(account, parseFilter('dlq', ids)),
  },
  'runDlq.resume': { atOnce: 20, request: resumeRuns },
  'runDlq.restart': { atOnce: 20, request: restartRuns },
  'runDlq.delete': { atOnce: 100, request: deleteRunDeadLetters },
};

/** Finds the entries of the next step in a few pages of the list. */
export async function findNext(account: Account, { operation, query, createdAt, behind, isRead }: Bulk) {
  if (isRead) return { ids: [], behind, isRead };
  const filter = filterOf(operation, query);
  const toDate = Math.min(filter.toDate ?? createdAt, createdAt);
  const entries = await entriesIn(listOf(operation), account, { ...filter, toDate, behind });
  let read = 0;
  // More rows would need one of the account's slots for long reads.
  const isReached = (): boolean => (read += 1) >= rowsWithoutSlot;
  const limits = { count: operations[operation].atOnce, budgetMs: countBudgetMs, isReached };
  const page = await pageOf(entries, {}, limits, ({ id, isSelected }) => (isSelected ? [id] : []));
  return { ids: page.entries.map(({ entry }) => entry), behind: page.next, isRead: page.next === undefined };
}
