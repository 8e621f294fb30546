import { setTimeout } from 'node:timers/promises';
import { limitsOf, type Account } from '../domain/account.ts';
import type * as answers from '../domain/answers.ts';
import type { Answer } from '../domain/answers.ts';
import { now } from '../domain/clock.ts';
import type { CanonicalRequest } from '../domain/dialect.ts';
import { longestPage, matches, type Filter, type Filterable } from '../domain/filters.ts';
import { HttpError, notFound, quote } from '../domain/httpError.ts';
import { newId } from '../domain/ids.ts';
import { eachOf } from '../domain/lists.ts';
import { expiryOf } from '../domain/message.ts';
import { parseOverrides, type PublishOptions } from '../domain/options.ts';
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
import { acceptEach, type Draft } from './accept.ts';
import { destinationRules } from './destinations.ts';
import { listBudgetMs } from './logs.ts';
import { bulkAtOnce, bulkBudgetMs } from './messages.ts';
import { isNewer, merged, pageOf, rangeOf, type Page } from './pages.ts';
import { gateOf, type Gate } from './usage.ts';

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
    const found: (DeadLetter | undefined)[] = [];
    await eachOf([...new Set(filter.ids)], bulkAtOnce, async (dlqId, index) => {
      found[index] = await loadDeadLetter(account.id, dlqId, time);
    });
    return { entries: found.filter((entry) => entry !== undefined), cursor: undefined };
  }
  const range = await rangeOf(scopeOf(account), filter);
  const rows = merged(
    shardsOf(account.id).map((shard) => listDeadLetters(shard, range, time)),
    isNewer,
  );
  return pageOf(scopeOf(account), rows, range, limits, ({ entry }) =>
    entry !== undefined && matches(filter, filterableEntry(entry)) ? [entry] : [],
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

/** @throws HttpError 404, 503, or as for a publish */
export async function retryDlqEntry(
  account: Account,
  dlqId: string,
  request: RetryRequest,
): Promise<Answer<typeof answers.messageIdAnswer>> {
  const overrides = overridesOf(account, request);
  const entry = await loadDeadLetter(account.id, dlqId, now());
  const outcomes = await retry(account, entry === undefined ? [] : [entry], overrides);
  const outcome = outcomes.get(dlqId) ?? 'gone';
  if (outcome instanceof HttpError) throw outcome;
  if (outcome === 'gone') throw noSuchEntry(dlqId);
  if (outcome === 'failed') {
    throw new HttpError(503, `The dead letter ${quote(dlqId)} could not be sent again; it is still there.`);
  }
  return outcome;
}

/** Safe to repeat: what could not be sent again is still there. */
export async function retryDlqEntries(
  account: Account,
  filter: Filter,
  request: RetryRequest,
): Promise<Answer<typeof answers.retriedPage>> {
  const overrides = overridesOf(account, request);
  const responses: { readonly messageId: string }[] = [];
  const cursor = await onEach(account, filter, async (entries) => {
    let refusal: HttpError | undefined;
    for (const outcome of (await retry(account, entries, overrides)).values()) {
      if (outcome instanceof HttpError) refusal = outcome;
      else if (typeof outcome === 'object') responses.push(outcome);
    }
    if (refusal === undefined) return;
    const sentence = `${refusal.message} Sent again before that: ${responses.length} dead letters.`;
    throw new HttpError(refusal.status, sentence, refusal.headers);
  });
  return { cursor, responses };
}

const overridesOf = (account: Account, request: RetryRequest): Partial<PublishOptions> =>
  parseOverrides(request, account, destinationRules(request.host), now());

/**
 * The message that an entry was sent again as; or that it was not there any more, could not be sent, or was one too many
 * for the account's limits.
 */
type RetryOutcome = { readonly messageId: string } | 'gone' | 'failed' | HttpError;

/** How long a retry may take before it counts as dead, and its entries are others' to retry. */
const retryPatienceMs = 12_000;

/**
 * Sends entries again, as new messages, and takes them out. The new message's id is settled in the entry first. Of
 * several who retry it at once, one sends it and the others wait for him; should he die, another sends the same message.
 *
 * @returns by the entry's id
 */
async function retry(
  account: Account,
  entries: readonly DeadLetter[],
  overrides: Partial<PublishOptions>,
): Promise<ReadonlyMap<string, RetryOutcome>> {
  const gate = await gateOf(account, entries.length);
  try {
    const outcomes = await retryThrough(gate, account, entries, overrides);
    gate.close();
    return outcomes;
  } catch (error) {
    gate.cancel();
    throw error;
  }
}

async function retryThrough(
  gate: Gate,
  account: Account,
  entries: readonly DeadLetter[],
  overrides: Partial<PublishOptions>,
): Promise<ReadonlyMap<string, RetryOutcome>> {
  const outcomes = new Map<string, RetryOutcome>();
  const until = now() + 2 * retryPatienceMs;
  let left = entries;
  for (let waitMs = 500; ; waitMs *= 2) {
    const ours: Claimed[] = [];
    const theirs: DeadLetter[] = [];
    await eachOf(left, bulkAtOnce, async (entry) => {
      const refusal = gate.admit(1);
      if (refusal !== undefined) {
        outcomes.set(entry.dlqId, refusal);
        return;
      }
      const time = now();
      const claim = await claimRetry(account.id, entry.dlqId, {
        retryId: newId('msg', time),
        now: time,
        staleBefore: time - retryPatienceMs,
      });
      if (claim.state !== 'ours') gate.giveBack(1);
      if (claim.state === 'ours') ours.push({ entry, retryId: claim.retryId });
      else if (claim.state === 'theirs') theirs.push(entry);
      else outcomes.set(entry.dlqId, claim.state === 'sent' ? { messageId: claim.retryId } : 'gone');
    });
    for (const [dlqId, outcome] of await sendAgain(account, ours, overrides)) {
      if (typeof outcome !== 'object') gate.giveBack(1);
      outcomes.set(dlqId, outcome);
    }
    if (theirs.length === 0) return outcomes;
    if (now() > until) {
      for (const { dlqId } of theirs) outcomes.set(dlqId, 'failed');
      return outcomes;
    }
    await setTimeout(waitMs);
    left = theirs;
  }
}

interface Claimed {
  readonly entry: DeadLetter;
  readonly retryId: string;
}

/** Accepts the messages that claimed entries are sent again as. Those that could not be accepted stay in the queue. */
async function sendAgain(
  account: Account,
  claimed: readonly Claimed[],
  overrides: Partial<PublishOptions>,
): Promise<ReadonlyMap<string, RetryOutcome>> {
  const outcomes = new Map<string, RetryOutcome>();
  const drafts: (Draft & { readonly dlqId: string })[] = [];
  await eachOf(claimed, bulkAtOnce, async ({ entry, retryId }) => {
    const { message, dlqId } = entry;
    const history = await loadMessage(message);
    if (history === undefined) {
      outcomes.set(dlqId, 'gone');
      return;
    }
    const body = await loadBody(message.messageId, history.body);
    const createdAt = now();
    const renewed = { ...message, createdAt, notBefore: createdAt, ...overrides, messageId: retryId };
    const expiresAt = expiryOf(renewed, limitsOf(account).max_dlq_retention_time_milis);
    drafts.push({ dlqId, message: { ...renewed, expiresAt }, body });
  });
  const accepted = await acceptEach(drafts);
  await eachOf(drafts, bulkAtOnce, async ({ dlqId, message }, index) => {
    const isAccepted = accepted[index] === true;
    if (isAccepted) await removeDeadLetter(account.id, dlqId, now(), 'sent');
    outcomes.set(dlqId, isAccepted ? { messageId: message.messageId } : 'failed');
  });
  return outcomes;
}
