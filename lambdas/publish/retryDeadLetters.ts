import { setTimeout } from 'node:timers/promises';
import type * as answers from '../wire/answers.ts';
import type { Answer } from '../wire/answers.ts';
import type { CanonicalRequest } from '../request/dialect.ts';
import type { Filter } from '../wire/filters.ts';
import { parseOverrides, type PublishOptions } from '../request/publishOptions.ts';
import type { Account } from '../account/account.ts';
import { now } from '../shared/clock.ts';
import { HttpError, quote } from '../error/httpError.ts';
import { newId } from '../shared/ids.ts';
import { eachOf, weighedChunksOf } from '../shared/lists.ts';
import { claimRetry, loadDeadLetter, type DeadLetter } from '../deadLetter/rows.ts';
import { loadBody, mostBytesOf, type StoredBody } from '../message/bodies.ts';
import { loadStoredBody } from '../message/history.ts';
import { destinationRules } from '../destination/rulesOfDeployment.ts';
import { acceptEach, type Draft } from './accept.ts';
import { bulkAtOnce } from './messages.ts';
import { renewed } from './renewed.ts';
import { onEach } from '../list/pages.ts';
import { withAdmission, type Admission } from '../usage/charge.ts';
import { isOfMessage, mostOf, noSuchDeadLetter, selection } from '../deadLetter/deadLetters.ts';
import { removeDeadLetters } from '../deadLetter/size.ts';

/** A request to retry. Its configuration replaces that of the dead letter's message. */
export interface RetryRequest extends Pick<CanonicalRequest, 'prefix' | 'config'> {
  readonly host: string;
}

/** A retry that takes longer counts as that of a dead process, and another may claim its dead letters. */
const retryPatienceMs = 12_000;
/** A request waits so long for other processes that retry the same; the gateway gives up after 29 s. */
const waitingMs = 2 * retryPatienceMs;
/** The first pause between two looks at what other processes retry; each is twice as long as the one before. */
const firstPauseMs = 500;

/** Dead letters that one step of a bulk retry takes. */
const retriedAtOnce = 100;

/** The most messages of one answer. It has room for the ids of 100,000, but the time never suffices for so many. */
const mostResponses = 10_000;

/** Bytes of bodies that are in memory at once. A function has 512 MB, and each body is there twice while it is sent. */
const bodyBytesAtOnce = 64 * 1_024 * 1_024;

/** @throws HttpError 404, 503, or as for a publish */
export async function retryDeadLetter(
  account: Account,
  dlqId: string,
  request: RetryRequest,
): Promise<Answer<typeof answers.messageIdAnswer>> {
  const overrides = await overridesOf(account, request);
  const deadLetter = await loadDeadLetter(account.id, dlqId, now());
  const deadLetters = deadLetter !== undefined && isOfMessage(deadLetter) ? [deadLetter] : [];
  const outcomes = await retry(account, deadLetters, overrides, now() + waitingMs);
  const outcome = outcomes.get(dlqId) ?? 'gone';
  if (outcome instanceof HttpError) throw outcome;
  if (outcome === 'gone') throw noSuchDeadLetter(dlqId);
  if (outcome === 'failed') {
    throw new HttpError(
      503,
      'not_stored',
      `The dead letter ${quote(dlqId)} could not be sent again; it is still there.`,
    );
  }
  return outcome;
}

/** Retries all dead letters that a filter selects. Safe to repeat: those that could not be sent again are still there. */
export async function retryDeadLetters(
  account: Account,
  filter: Filter,
  request: RetryRequest,
): Promise<Answer<typeof answers.retriedPage>> {
  const overrides = await overridesOf(account, request);
  const { scope, rows, selected } = await selection(account, filter, isOfMessage);
  const until = now() + waitingMs;
  const responses: { readonly messageId: string }[] = [];
  const limits = { count: Math.min(mostOf(filter), mostResponses), atOnce: retriedAtOnce };
  const cursor = await onEach(scope, rows, limits, selected, async (some) => {
    let refusal: HttpError | undefined;
    for (const outcome of (await retry(account, some, overrides, until)).values()) {
      if (outcome instanceof HttpError) refusal = outcome;
      else if (typeof outcome === 'object') responses.push(outcome);
    }
    if (refusal === undefined) return;
    refusal.message += ` Sent again before that: ${responses.length} dead letters.`;
    throw refusal;
  });
  return { cursor, responses };
}

const overridesOf = async (account: Account, request: RetryRequest): Promise<Partial<PublishOptions>> =>
  parseOverrides(request, account, await destinationRules(request.host), now());

/**
 * The outcome of one dead letter's retry: the message as which it was sent again; `gone`, because it was not there any
 * more; `failed`, because it could not be sent; or the refusal by one of the account's limits.
 */
type RetryOutcome = { readonly messageId: string } | 'gone' | 'failed' | HttpError;

/** Collects the outcomes of dead letters, by their ids. */
type Outcomes = Map<string, RetryOutcome>;

/**
 * Sends dead letters again, as new messages, and takes them out of the queue. The id of the new message is fixed in the
 * dead letter's row by the first claim. Of several processes that retry a dead letter at once, one sends it and the others
 * wait; where that one dies, another sends the same message.
 *
 * @param until Unix milliseconds, after which it waits no longer for other processes
 * @returns by the dead letter's id
 */
const retry = (
  account: Account,
  deadLetters: readonly DeadLetter[],
  overrides: Partial<PublishOptions>,
  until: number,
): Promise<ReadonlyMap<string, RetryOutcome>> =>
  withAdmission(account, deadLetters.length, (admission) =>
    retryAdmitted(admission, account, deadLetters, overrides, until),
  );

/** A dead letter, and where its message's body is. */
interface Stored {
  readonly deadLetter: DeadLetter;
  readonly body: StoredBody;
}

interface Claimed extends Stored {
  /** The id of the new message. */
  readonly retryId: string;
}

async function retryAdmitted(
  admission: Admission,
  account: Account,
  deadLetters: readonly DeadLetter[],
  overrides: Partial<PublishOptions>,
  until: number,
): Promise<ReadonlyMap<string, RetryOutcome>> {
  const outcomes: Outcomes = new Map();
  let left = await withBodies(deadLetters, outcomes);
  for (let pauseMs = firstPauseMs; ; pauseMs *= 2) {
    const theirs: Stored[] = [];
    // One chunk is sent and taken out before the bodies of the next are read: a process that dies leaves less to do.
    for (const chunk of weighedChunksOf(left, bodyBytesAtOnce, ({ body }) => mostBytesOf(body))) {
      const claims = await claimEach(admission, account, chunk, outcomes);
      theirs.push(...claims.theirs);
      for (const [dlqId, outcome] of await sendClaimed(account, claims.ours, overrides)) {
        if (typeof outcome !== 'object') admission.giveBack(1);
        outcomes.set(dlqId, outcome);
      }
    }
    if (theirs.length === 0) return outcomes;
    const leftMs = until - now();
    if (leftMs <= 0) {
      for (const { deadLetter } of theirs) outcomes.set(deadLetter.dlqId, 'failed');
      return outcomes;
    }
    // Never beyond the end: the function would be stopped before it could answer.
    await setTimeout(Math.min(pauseMs, leftMs));
    left = theirs;
  }
}

/** Finds the bodies of dead letters' messages. One whose message has expired is gone. */
async function withBodies(
  deadLetters: readonly DeadLetter[],
  outcomes: Outcomes,
): Promise<readonly Stored[]> {
  const bodies = new Map<DeadLetter, StoredBody>();
  await eachOf(deadLetters, bulkAtOnce, async (deadLetter) => {
    const body = await loadStoredBody(deadLetter.message);
    if (body === undefined) outcomes.set(deadLetter.dlqId, 'gone');
    else bodies.set(deadLetter, body);
  });
  return [...bodies].map(([deadLetter, body]) => ({ deadLetter, body }));
}

/**
 * Claims dead letters, each after the account's limits have admitted it.
 *
 * @param outcomes gets those that are decided by this: refused, sent by another process, or gone
 * @returns `ours`, which this process is to send, and `theirs`, which another process sends at this moment
 */
async function claimEach(
  admission: Admission,
  account: Account,
  deadLetters: readonly Stored[],
  outcomes: Outcomes,
): Promise<{ readonly ours: readonly Claimed[]; readonly theirs: readonly Stored[] }> {
  const ours: Claimed[] = [];
  const theirs: Stored[] = [];
  await eachOf(deadLetters, bulkAtOnce, async (stored) => {
    const { dlqId } = stored.deadLetter;
    const refusal = admission.admit(1);
    if (refusal !== undefined) {
      outcomes.set(dlqId, refusal);
      return;
    }
    const time = now();
    const claim = await claimRetry(account.id, dlqId, {
      retryId: newId('msg', time, account.shards),
      now: time,
      endedBy: time - retryPatienceMs,
    });
    if (claim.state === 'ours') {
      ours.push({ ...stored, retryId: claim.retryId });
      return;
    }
    admission.giveBack(1);
    if (claim.state === 'theirs') theirs.push(stored);
    else outcomes.set(dlqId, claim.state === 'sent' ? { messageId: claim.retryId } : 'gone');
  });
  return { ours, theirs };
}

/** Publishes claimed dead letters as new messages. Those that could not be accepted stay in the queue. */
async function sendClaimed(
  account: Account,
  claimed: readonly Claimed[],
  overrides: Partial<PublishOptions>,
): Promise<ReadonlyMap<string, RetryOutcome>> {
  const drafts: (Draft & { readonly deadLetter: DeadLetter })[] = [];
  await eachOf(claimed, bulkAtOnce, async ({ deadLetter, body, retryId }) => {
    const { message } = deadLetter;
    drafts.push({
      deadLetter,
      message: renewed(account, message, overrides, retryId),
      body: await loadBody(message.messageId, body),
    });
  });
  const failures = await acceptEach(drafts);
  const sent = drafts.filter(({ message }) => !failures.has(message));
  await removeDeadLetters(
    account.id,
    sent.map(({ deadLetter }) => deadLetter),
    'sent',
  );
  const outcomes: Outcomes = new Map();
  for (const { deadLetter } of drafts) outcomes.set(deadLetter.dlqId, 'failed');
  for (const { deadLetter, message } of sent) {
    outcomes.set(deadLetter.dlqId, { messageId: message.messageId });
  }
  return outcomes;
}
