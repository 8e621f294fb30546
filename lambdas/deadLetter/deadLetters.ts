import type * as answers from '../wire/answers.ts';
import type { Answer } from '../wire/answers.ts';
import type { deadLetterCount } from '../wire/statsAnswers.ts';
import { fitting, type ShownAs } from '../wire/answerSize.ts';
import type { Filterable } from '../wire/filterFields.ts';
import { longestPage, matches, type Filter } from '../wire/filters.ts';
import { bodyRecord, messageRecord, reasonOf, responseRecord } from '../message/records.ts';
import type { Account } from '../account/account.ts';
import { now, secondMs } from '../shared/clock.ts';
import { shownUrlOf } from '../message/logSubject.ts';
import { notFound, quote } from '../error/httpError.ts';
import { logSubjectOf } from '../message/logSubject.ts';
import {
  countOfMessages,
  listDeadLetters as listStored,
  loadDeadLetter,
  type DeadLetter,
  type DeadRun,
  type ListedDeadLetter,
} from './rows.ts';
import { loadBody } from '../message/bodies.ts';
import { loadMessage } from '../message/history.ts';
import { precedes, shardsOf } from '../table/shards.ts';
import {
  countBudgetMs,
  countEach,
  idRows,
  listBudgetMs,
  loadedRows,
  merged,
  onEach,
  orderedScope,
  pageOf,
  rangeOf,
  show,
} from '../list/pages.ts';
import { limitedScan } from '../list/scans.ts';
import { searchedPage } from '../list/search.ts';
import { findInBodies } from '../message/list.ts';
import { FailureGroups } from './failureGroups.ts';
import { removeDeadLetters } from './size.ts';

export const noSuchDeadLetter = (dlqId: string): Error =>
  notFound('dead_letter_not_found', `There is no dead letter ${quote(dlqId)}.`);

const deadLetterRecord = (
  { dlqId, message, responseStatus, responseHeaders, error, retried, failedAt, expiresAt }: DeadLetter,
  responseBody: Uint8Array = new Uint8Array(),
  bodies: ShownAs = 'text',
): Answer<typeof answers.listedDeadLetter> => ({
  ...messageRecord(message),
  dlqId,
  retried,
  failedAt,
  expiresAt,
  ...responseRecord({ status: responseStatus, headers: responseHeaders, body: responseBody, error }, bodies),
});

const answerOf = ({ responseStatus: status, error, responseBody: body }: DeadLetter) => ({
  status,
  error,
  body,
});

const filterableOf = (deadLetter: DeadLetter): Filterable => ({
  ...logSubjectOf(deadLetter.message),
  responseStatus: deadLetter.responseStatus,
  errorOf: () => reasonOf(answerOf(deadLetter)),
  run: deadLetter.workflow,
});

export type DeadLetterOfRun = DeadLetter & { readonly workflow: DeadRun };

type DeadLetterOfMessage = DeadLetter & { readonly workflow?: undefined };

/** Whether a dead letter is of a message, not of a run. */
export const isOfMessage = (deadLetter: DeadLetter): deadLetter is DeadLetterOfMessage =>
  deadLetter.workflow === undefined;
export const isOfRun = (deadLetter: DeadLetter): deadLetter is DeadLetterOfRun =>
  deadLetter.workflow !== undefined;

const loadedAtOnce = 10;

/**
 * @returns the rows in the order of the index or of the filter's ids; and `selected`, which returns a row's
 * dead letter if the filter selects it
 */
export async function selection<D extends DeadLetter>(
  account: Account,
  filter: Filter,
  isWanted: (deadLetter: DeadLetter) => deadLetter is D,
) {
  const time = now();
  const scope = orderedScope(`${account.id}/dlq`, filter.order);
  const range = await rangeOf(scope, filter);
  const rows: AsyncIterable<ListedDeadLetter> =
    filter.ids === undefined
      ? limitedScan(
          account.id,
          merged(
            shardsOf(account).map((shard) => listStored(shard, range, time)),
            precedes(filter.order),
          ),
        )
      : loadedRows(idRows(filter.ids, range.behind), loadedAtOnce, async (row) => ({
          ...row,
          deadLetter: await loadDeadLetter(account.id, row.id, time),
        }));
  const selected = ({ deadLetter }: ListedDeadLetter): D | undefined =>
    deadLetter !== undefined &&
    isWanted(deadLetter) &&
    (filter.ids !== undefined || matches(filter, filterableOf(deadLetter)))
      ? deadLetter
      : undefined;
  return { scope, range, rows, selected };
}

export const mostOf = ({ ids, count }: Filter): number =>
  ids === undefined ? (count ?? Infinity) : Infinity;

export async function listDeadLetters(
  account: Account,
  filter: Filter,
): Promise<Answer<typeof answers.deadLetterPage>> {
  const { scope, range, rows, selected } = await selection(account, filter, isOfMessage);
  const count = filter.ids === undefined ? (filter.count ?? longestPage) : Infinity;
  const entriesOf = (row: ListedDeadLetter): readonly DeadLetterOfMessage[] => [selected(row) ?? []].flat();
  const texts = filter.ids === undefined ? filter.bodyTexts : undefined;
  const page =
    texts === undefined
      ? await pageOf(rows, range, { count, budgetMs: listBudgetMs }, entriesOf)
      : await searchedPage(rows, range, count, entriesOf, async (deadLetters) => {
          const ids = new Set(deadLetters.map(({ message }) => message.messageId));
          const found = await findInBodies(account.id, [...ids], texts);
          return new Set(deadLetters.filter(({ message }) => found.has(message.messageId)));
        });
  const { records, cursor } = await show(scope, page.entries, page.next, (deadLetter) =>
    deadLetterRecord(deadLetter, deadLetter.responseBody),
  );
  return { messages: records, cursor, searched: page.searched };
}

export async function deadLetterOf<D extends DeadLetter>(
  account: Account,
  dlqId: string,
  isWanted: (deadLetter: DeadLetter) => deadLetter is D,
): Promise<D> {
  const deadLetter = await loadDeadLetter(account.id, dlqId, now());
  if (deadLetter === undefined || !isWanted(deadLetter)) throw noSuchDeadLetter(dlqId);
  return deadLetter;
}

export async function getDeadLetter(
  account: Account,
  dlqId: string,
): Promise<Answer<typeof answers.deadLetter>> {
  const deadLetter = await deadLetterOf(account, dlqId, isOfMessage);
  const history = await loadMessage(deadLetter.message);
  if (history === undefined) throw noSuchDeadLetter(dlqId);
  const { message } = deadLetter;
  const last = history.attempts.find(({ number }) => number === deadLetter.retried);
  const body = await loadBody(message.messageId, history.body);
  return fitting((bodies) => ({
    ...deadLetterRecord(deadLetter, last?.response.body ?? deadLetter.responseBody, bodies),
    ...bodyRecord(body, message.redaction, bodies),
    retriedAs: history.message.retriedAs,
  }));
}

export async function deleteDeadLetter(
  account: Account,
  dlqId: string,
  isWanted: (deadLetter: DeadLetter) => boolean = isOfMessage,
): Promise<void> {
  const deadLetter = await loadDeadLetter(account.id, dlqId, now());
  const isDeleted =
    deadLetter !== undefined &&
    isWanted(deadLetter) &&
    (await removeDeadLetters(account.id, [deadLetter], 'deleted')).size > 0;
  if (!isDeleted) throw noSuchDeadLetter(dlqId);
}

const deletedAtOnce = 20;

export async function deleteDeadLetters(
  account: Account,
  filter: Filter,
  isWanted: (deadLetter: DeadLetter) => deadLetter is DeadLetter = isOfMessage,
): Promise<Answer<typeof answers.deleted>> {
  const { scope, rows, selected } = await selection(account, filter, isWanted);
  let deleted = 0;
  const limits = { count: mostOf(filter), atOnce: deletedAtOnce };
  const cursor = await onEach(scope, rows, limits, selected, async (some) => {
    deleted += (await removeDeadLetters(account.id, some, 'deleted')).size;
  });
  return { deleted, cursor };
}

const hasNoFilter = ({ ids, cursor, fromDate, toDate, values }: Filter): boolean =>
  (ids ?? cursor ?? fromDate ?? toDate) === undefined && values.size === 0;

/** Dead letters are read for this long to group them. The others are only counted. */
const groupsBudgetMs = 2 * secondMs;

/** @returns undefined if the time was too short */
async function countAll(account: Account): Promise<number | undefined> {
  const time = now();
  const until = Date.now() + countBudgetMs;
  const counts = await Promise.all(shardsOf(account).map((shard) => countOfMessages(shard, time, until)));
  return counts.reduce((sum, one) => (sum === undefined || one === undefined ? undefined : sum + one), 0);
}

/** Counts the dead letters that a bulk operation would select, and what they have in common. */
export async function countDeadLetters(
  account: Account,
  filter: Filter,
  isWanted: (deadLetter: DeadLetter) => deadLetter is DeadLetter = isOfMessage,
): Promise<Answer<typeof deadLetterCount>> {
  const { scope, rows, selected } = await selection(account, filter, isWanted);
  const groups = new FailureGroups();
  const areAll = isWanted === isOfMessage && hasNoFilter(filter);
  const note = (deadLetter: DeadLetter): void => {
    const { message, failedAt, workflow } = deadLetter;
    const { url, labels } = message;
    const shown = shownUrlOf({ ...message, url: workflow?.url ?? url });
    groups.add({
      url,
      shown,
      labels,
      answer: answerOf(deadLetter),
      firstFailedAt: failedAt,
      lastFailedAt: failedAt,
    });
  };
  const until = now() + (areAll ? groupsBudgetMs : countBudgetMs);
  const counted = await countEach(scope, rows, selected, note, until);
  const all = areAll && counted.atLeast === true ? await countAll(account) : undefined;
  return {
    ...(all === undefined ? counted : { count: all, grouped: counted.count ?? 0 }),
    ...groups.shown(),
  };
}
