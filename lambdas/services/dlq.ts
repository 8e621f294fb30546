import { limitsOf, type Account } from '../domain/account.ts';
import type * as answers from '../domain/answers.ts';
import type { Answer } from '../domain/answers.ts';
import { now } from '../domain/clock.ts';
import type { CanonicalRequest } from '../domain/dialect.ts';
import { longestPage, matches, type Filter, type Filterable } from '../domain/filters.ts';
import { notFound, quote } from '../domain/httpError.ts';
import { newId } from '../domain/ids.ts';
import { expiryOf, type Message } from '../domain/message.ts';
import { parseOverrides } from '../domain/options.ts';
import { bodyRecord, logSubjectOf, messageRecord, responseRecord } from '../domain/records.ts';
import { loadBody } from '../stores/bodies.ts';
import {
  claimRetry,
  listDeadLetters,
  loadDeadLetter,
  removeDeadLetter,
  type DeadLetter,
} from '../stores/dlq.ts';
import { loadMessage } from '../stores/messages.ts';
import { shardsOf } from '../stores/shards.ts';
import { acceptEach } from './accept.ts';
import { destinationRules } from './destinations.ts';
import { eachOf } from './eachOf.ts';
import { listBudgetMs } from './logs.ts';
import { bulkAtOnce, bulkBudgetMs } from './messages.ts';
import { merged, pageOf, rangeOf, type Page } from './pages.ts';

const scopeOf = (account: Account): string => `${account.id}/dlq`;

const noSuchEntry = (dlqId: string): Error => notFound(`There is no dead letter ${quote(dlqId)}.`);

/** An entry as lists show it: without bodies. */
const entryRecord = ({
  dlqId,
  message,
  responseStatus,
  responseHeaders,
  error,
  retried,
}: DeadLetter): Answer<typeof answers.listedDeadLetter> => ({
  ...messageRecord(message),
  dlqId,
  retried,
  responseStatus,
  responseHeader: responseHeaders,
  error,
});

const filterableEntry = ({ message, responseStatus }: DeadLetter): Filterable => ({
  ...logSubjectOf(message),
  responseStatus,
});

/** A page of the entries that match, newest first. */
async function select(
  account: Account,
  filter: Filter,
  limits: { readonly count: number; readonly budgetMs: number },
): Promise<Page<DeadLetter>> {
  const time = now();
  if (filter.ids !== undefined) {
    const found = await Promise.all(filter.ids.map((dlqId) => loadDeadLetter(account.id, dlqId, time)));
    return { entries: found.filter((entry) => entry !== undefined), cursor: undefined };
  }
  const range = await rangeOf(scopeOf(account), filter);
  const rows = merged(shardsOf(account.id).map((shard) => listDeadLetters(shard, range, time)));
  return pageOf(scopeOf(account), rows, range, limits, ({ entry }) =>
    matches(filter, filterableEntry(entry)) ? [entry] : [],
  );
}

export async function listDlq(
  account: Account,
  filter: Filter,
): Promise<Answer<typeof answers.deadLetterPage>> {
  const limits = { count: filter.count ?? longestPage, budgetMs: listBudgetMs };
  const { entries, cursor } = await select(account, filter, limits);
  return { messages: entries.map(entryRecord), cursor };
}

/** @throws HttpError 404 */
export async function getDlqEntry(
  account: Account,
  dlqId: string,
): Promise<Answer<typeof answers.deadLetter>> {
  const entry = await loadDeadLetter(account.id, dlqId, now());
  const history = entry && (await loadMessage(entry.message));
  if (entry === undefined || history === undefined) throw noSuchEntry(dlqId);
  const { message } = entry;
  const last = history.attempts.find(({ number }) => number === entry.retried);
  const body = await loadBody(message.messageId, history.body);
  return {
    ...entryRecord(entry),
    ...bodyRecord(body, message.redaction),
    ...(last && responseRecord(last.response)),
  };
}

/** @throws HttpError 404 */
export async function deleteDlqEntry(account: Account, dlqId: string): Promise<void> {
  if (!(await removeDeadLetter(account.id, dlqId, now()))) throw noSuchEntry(dlqId);
}

/** How many entries one step of a bulk operation takes. */
const step = 200;

/**
 * Works on all entries that match, or on so many as the filter counts, as long as the time suffices.
 *
 * @returns the cursor to go on with, absent when all are done
 */
async function onEach(
  account: Account,
  filter: Filter,
  work: (entries: readonly DeadLetter[]) => Promise<void>,
): Promise<string | undefined> {
  const until = now() + bulkBudgetMs;
  let left = filter.count ?? Infinity;
  let { cursor } = filter;
  do {
    const limits = { count: Math.min(left, step), budgetMs: listBudgetMs };
    const page = await select(account, { ...filter, cursor }, limits);
    await work(page.entries);
    left -= page.entries.length;
    cursor = page.cursor;
  } while (cursor !== undefined && left > 0 && now() < until);
  return cursor;
}

export async function deleteDlqEntries(
  account: Account,
  filter: Filter,
): Promise<Answer<typeof answers.deleted>> {
  let deleted = 0;
  const cursor = await onEach(account, filter, (entries) =>
    eachOf(entries, bulkAtOnce, async ({ dlqId }) => {
      if (await removeDeadLetter(account.id, dlqId, now())) deleted += 1;
    }),
  );
  return { deleted, cursor };
}

/** What a retry may change. */
export interface RetryRequest extends Pick<CanonicalRequest, 'prefix' | 'config'> {
  readonly host: string;
}

/** @throws HttpError 404, or as for a publish */
export async function retryDlqEntry(
  account: Account,
  dlqId: string,
  request: RetryRequest,
): Promise<Answer<typeof answers.messageIdAnswer>> {
  const entry = await loadDeadLetter(account.id, dlqId, now());
  if (entry === undefined) throw noSuchEntry(dlqId);
  const [messageId] = await retry(account, [entry], request);
  if (messageId === undefined) throw noSuchEntry(dlqId);
  return { messageId };
}

export async function retryDlqEntries(
  account: Account,
  filter: Filter,
  request: RetryRequest,
): Promise<Answer<typeof answers.retriedPage>> {
  const responses: { readonly messageId: string }[] = [];
  const cursor = await onEach(account, filter, async (entries) => {
    for (const messageId of await retry(account, entries, request)) responses.push({ messageId });
  });
  return { cursor, responses };
}

/**
 * Sends entries again, as new messages, and takes them out. The new message's id is settled in the entry first, so
 * whoever else retries it, now or after a crash between these steps, sends the same message and no second one.
 *
 * @returns the new messages' ids; entries that somebody took out meanwhile have none
 */
async function retry(
  account: Account,
  entries: readonly DeadLetter[],
  request: RetryRequest,
): Promise<readonly string[]> {
  const claimed: { readonly entry: DeadLetter; readonly message: Message; readonly body: Uint8Array }[] = [];
  await eachOf(entries, bulkAtOnce, async (entry) => {
    const { accountId, messageId } = entry.message;
    const createdAt = now();
    const overrides = parseOverrides(request, account, destinationRules(request.host), createdAt);
    const history = await loadMessage({ accountId, messageId });
    if (history === undefined) return;
    const body = await loadBody(messageId, history.body);
    const retryId = await claimRetry(accountId, entry.dlqId, newId('msg', createdAt));
    if (retryId === undefined) return;
    const renewed = { ...entry.message, createdAt, notBefore: createdAt, ...overrides };
    const expiresAt = expiryOf(renewed, limitsOf(account).max_dlq_retention_time_milis);
    claimed.push({ entry, message: { ...renewed, messageId: retryId, expiresAt }, body });
  });
  // What could not be accepted stays in the queue, with its claim: the next retry accepts it under the same id.
  const accepted = await acceptEach(claimed);
  const sent = claimed.filter((_, index) => accepted[index] === true);
  await eachOf(sent, bulkAtOnce, async ({ entry }) => {
    await removeDeadLetter(account.id, entry.dlqId, now());
  });
  return sent.map(({ message }) => message.messageId);
}
