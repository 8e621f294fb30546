/** The dead letters of runs. Each failed run has one until it is run again. */
import type { Account } from '../account/account.ts';
import {
  countDeadLetters,
  deadLetterOf,
  deleteDeadLetter,
  deleteDeadLetters,
  isOfRun,
  selection,
} from '../deadLetter/deadLetters.ts';
import { listBudgetMs, pageOf, show } from '../list/pages.ts';
import { loadBody } from '../message/bodies.ts';
import { bodyRecord } from '../message/records.ts';
import type { Header } from '../shared/headers.ts';
import type { Answer, deleted } from '../wire/answers.ts';
import type { deadLetterCount } from '../wire/statsAnswers.ts';
import { fitting } from '../wire/answerSize.ts';
import { longestPage, parseFilter } from '../wire/filters.ts';
import type * as answers from '../wire/workflowAnswers.ts';
import {
  answerTo,
  listedRecord,
  loadDetails,
  noBytes,
  redactionOf,
  responseInRow,
} from './log/runDeadLetter.ts';

export async function listRunDeadLetters(
  account: Account,
  query: readonly Header[],
): Promise<Answer<typeof answers.runDeadLetterPage>> {
  const filter = parseFilter('deadRuns', query, longestPage);
  const { scope, range, rows, selected } = await selection(account, filter, isOfRun);
  const limits = {
    count: filter.ids === undefined ? (filter.count ?? longestPage) : Infinity,
    budgetMs: listBudgetMs,
  };
  const page = await pageOf(rows, range, limits, (row) => [selected(row) ?? []].flat());
  const { records, cursor } = await show(scope, page.entries, page.next, async (deadLetter) =>
    listedRecord(deadLetter, await loadDetails(deadLetter), responseInRow(deadLetter)),
  );
  return { messages: records, cursor };
}

/**
 * Includes the beginning of the last answer's body.
 *
 * @throws HttpError 404
 */
export async function getRunDeadLetter(
  account: Account,
  dlqId: string,
): Promise<Answer<typeof answers.runDeadLetter>> {
  const deadLetter = await deadLetterOf(account, dlqId, isOfRun);
  const [details, whole] = await Promise.all([
    loadDetails(deadLetter),
    answerTo(deadLetter.message, deadLetter.retried),
  ]);
  const { started } = details;
  const payload = started && (await loadBody(started.entry.messageId, started.entry.body));
  return fitting((bodies) => ({
    ...listedRecord(deadLetter, details, whole ?? responseInRow(deadLetter), bodies),
    ...bodyRecord(payload ?? noBytes, redactionOf(deadLetter, details), bodies),
  }));
}

export const deleteRunDeadLetter = (account: Account, dlqId: string): Promise<void> =>
  deleteDeadLetter(account, dlqId, isOfRun);

export const deleteRunDeadLetters = (
  account: Account,
  query: readonly Header[],
): Promise<Answer<typeof deleted>> => deleteDeadLetters(account, parseFilter('deadRuns', query), isOfRun);

/**
 * Counts the dead letters that a bulk operation would select.
 *
 * @throws HttpError 400
 */
export const countRunDeadLetters = (
  account: Account,
  query: readonly Header[],
): Promise<Answer<typeof deadLetterCount>> =>
  countDeadLetters(account, parseFilter('deadRuns', query, 'uncounted'), isOfRun);
