/** The dead letters of runs: one for each run that failed, until it is run again. */
import type { Answer, deadLetterCount, deleted } from '../wire/answers.ts';
import { fitting, type ShownAs } from '../wire/answerSize.ts';
import { longestPage, parseFilter } from '../wire/filters.ts';
import { bodyRecord, messageRecord, responseRecord } from '../message/records.ts';
import type * as answers from '../wire/workflowAnswers.ts';
import type { Account } from '../account/account.ts';
import { shownUrl } from '../shared/urlCredentials.ts';
import { shownHeaders, type Header } from '../shared/headers.ts';
import type { KeptResponse } from '../message/message.ts';
import { noRedaction, redacted, type Redaction } from '../options/redaction.ts';
import type { ListedEntry, RunStart } from './rules/journal.ts';
import { startHeaders } from './log/rules/startHeaders.ts';
import type { DeadRun } from '../deadLetter/rows.ts';
import { loadBody } from '../message/bodies.ts';
import { loadMessage } from '../message/history.ts';
import type { MessageKey } from '../message/rows.ts';
import { loadRecord } from './store/journals.ts';
import {
  countDeadLetters,
  deadLetterOf,
  deleteDeadLetter,
  deleteDeadLetters,
  isOfRun,
  selection,
  type DeadLetterOfRun,
} from '../deadLetter/deadLetters.ts';
import { listBudgetMs, pageOf, show } from '../list/pages.ts';
import { failureRequestIdOf } from './failure/failureRequest.ts';

type Listed = Answer<typeof answers.listedRunDeadLetter>;

/** The facts that are shown of a run besides the row of its dead letter. */
interface Shown {
  /** The start, and the payload's entry; absent where the run's journal is not kept any more. */
  readonly started: { readonly start: RunStart; readonly entry: ListedEntry } | undefined;
  /** The last answer to the failure request; absent while there is none. */
  readonly told: KeptResponse | undefined;
}

/** Reads the answer to a message's last attempt, or to one of them; undefined where there is none. */
async function answerTo(key: MessageKey, attempt?: number): Promise<KeptResponse | undefined> {
  const attempts = (await loadMessage(key))?.attempts ?? [];
  return attempts.findLast(({ number }) => attempt === undefined || number === attempt)?.response;
}

async function toldTo(accountId: string, run: DeadRun): Promise<KeptResponse | undefined> {
  if (run.failureState === undefined) return undefined;
  const messageId = await failureRequestIdOf({ accountId, runId: run.runId }, run.startSeq);
  return messageId === undefined ? undefined : answerTo({ accountId, messageId });
}

async function load({ message: { accountId }, workflow }: DeadLetterOfRun): Promise<Shown> {
  const [record, told] = await Promise.all([
    loadRecord({ accountId, runId: workflow.runId }, workflow.startSeq),
    toldTo(accountId, workflow),
  ]);
  return { started: record?.kind === 'start' ? record : undefined, told };
}

const redactionOf = ({ message }: DeadLetterOfRun, { started }: Shown): Redaction =>
  started?.start.settings.redaction ?? message.redaction ?? noRedaction;

/** An answer may repeat what it was asked: where the body is redacted, it is shown as its hash. */
function answerRecord(response: KeptResponse, redaction: Redaction, bodies: ShownAs) {
  if (!redaction.body || response.body.length === 0) return responseRecord(response, bodies);
  return {
    ...responseRecord({ ...response, body: new Uint8Array() }, bodies),
    responseBody: redacted(response.body),
  };
}

function toldRecord(
  state: DeadRun['failureState'],
  told: KeptResponse | undefined,
  redaction: Redaction,
  bodies: ShownAs,
): Pick<Listed, 'failureCallbackInfo' | 'failureCallbackHeader'> {
  if (state === undefined) return {};
  if (told === undefined) return { failureCallbackInfo: { state } };
  const { responseHeader, error: _error, ...answered } = answerRecord(told, redaction, bodies);
  return {
    failureCallbackHeader: responseHeader,
    failureCallbackInfo: { state, ...answered, responseHeaders: responseHeader },
  };
}

/** @param response the last attempt's, or as much of it as the dead letter's own row has */
function listedRecord(
  deadLetter: DeadLetterOfRun,
  shown: Shown,
  response: KeptResponse,
  bodies: ShownAs = 'text',
): Listed {
  const { dlqId, message, workflow, retried, failedAt, expiresAt } = deadLetter;
  const start = shown.started?.start;
  const redaction = redactionOf(deadLetter, shown);
  const record = messageRecord(message);
  return {
    ...record,
    header: start === undefined ? record.header : shownHeaders(startHeaders(workflow.runId, start)),
    failureCallback: start?.failureCallback && shownUrl(start.failureCallback.url),
    dlqId,
    retried,
    failedAt,
    expiresAt,
    ...answerRecord(response, redaction, bodies),
    workflowRunId: workflow.runId,
    workflowCreatedAt: workflow.createdAt,
    workflowUrl: shownUrl(workflow.url),
    failureFunctionState: workflow.failureState,
    ...toldRecord(workflow.failureState, shown.told, redaction, bodies),
  };
}

const noBytes = new Uint8Array();

const responseInRow = (deadLetter: DeadLetterOfRun): KeptResponse => ({
  status: deadLetter.responseStatus,
  error: deadLetter.error,
  headers: deadLetter.responseHeaders,
  body: deadLetter.responseBody ?? noBytes,
});

/** Lists them without their payloads. @throws HttpError 400 */
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
    listedRecord(deadLetter, await load(deadLetter), responseInRow(deadLetter)),
  );
  return { messages: records, cursor };
}

/** Shows one, with its payload and the whole of the last answer that is kept. @throws HttpError 404 */
export async function getRunDeadLetter(
  account: Account,
  dlqId: string,
): Promise<Answer<typeof answers.runDeadLetter>> {
  const deadLetter = await deadLetterOf(account, dlqId, isOfRun);
  const [shown, whole] = await Promise.all([
    load(deadLetter),
    answerTo(deadLetter.message, deadLetter.retried),
  ]);
  const { started } = shown;
  const payload = started && (await loadBody(started.entry.messageId, started.entry.body));
  return fitting((bodies) => ({
    ...listedRecord(deadLetter, shown, whole ?? responseInRow(deadLetter), bodies),
    ...bodyRecord(payload ?? noBytes, redactionOf(deadLetter, shown), bodies),
  }));
}

/** @throws HttpError 404 */
export const deleteRunDeadLetter = (account: Account, dlqId: string): Promise<void> =>
  deleteDeadLetter(account, dlqId, isOfRun);

/** Deletes all that a filter selects. Safe to repeat. @throws HttpError 400 */
export const deleteRunDeadLetters = (
  account: Account,
  query: readonly Header[],
): Promise<Answer<typeof deleted>> => deleteDeadLetters(account, parseFilter('deadRuns', query), isOfRun);

/** Counts those that a bulk operation with the same filter would take. @throws HttpError 400 */
export const countRunDeadLetters = (
  account: Account,
  query: readonly Header[],
): Promise<Answer<typeof deadLetterCount>> =>
  countDeadLetters(account, parseFilter('deadRuns', query, 'uncounted'), isOfRun);
