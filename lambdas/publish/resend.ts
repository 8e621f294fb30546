import { setTimeout } from 'node:timers/promises';
import type { PublishOptions } from '../request/publishOptions.ts';
import type { Account } from '../account/account.ts';
import { logAndContinue } from '../aws/logAndContinue.ts';
import { now } from '../shared/clock.ts';
import type { HttpError } from '../error/httpError.ts';
import { newId } from '../shared/ids.ts';
import { eachOf, weighedChunksOf } from '../shared/lists.ts';
import type { DeadLetter } from '../deadLetter/rows.ts';
import { claimRetry } from '../deadLetter/claims.ts';
import { loadBody, mostBytesOf } from '../message/bodies.ts';
import type { StoredBody } from '../message/message.ts';
import { loadStoredBody } from '../message/history.ts';
import { noteRetry } from '../message/messages.ts';
import { acceptEach } from './accept.ts';
import { type Draft, renewed } from './prepare.ts';
import { withCharges, type Charges } from '../usage/charge.ts';
import { removeDeadLetters } from '../deadLetter/size.ts';

/** A process that takes longer counts as dead. Another one may then claim its dead letters. */
const retryTimeoutMs = 12_000;
/** Dead letters that other processes retry are claimed again after this pause, which doubles each time. */
const firstPauseMs = 500;

const atOnce = 10;
/** The most bytes of bodies in memory. A function has 512 MB, and sending needs each body twice. */
const bodyBytesAtOnce = 64 * 1_024 * 1_024;

/**
 * The new message; `gone` if the dead letter no longer exists; `failed` if it could not be sent; or the
 * refusal by a limit.
 */
type RetryOutcome = { readonly messageId: string } | 'gone' | 'failed' | HttpError;

type Outcomes = Map<string, RetryOutcome>;

/**
 * Sends dead letters again as new messages, and removes them. The first claim fixes the new message's id. One
 * of several processes sends the message while others wait; if it dies, another one sends the same message.
 *
 * @param until when to stop waiting for other processes
 * @returns outcomes by dead letter id
 */
export const retry = (
  account: Account,
  deadLetters: readonly DeadLetter[],
  overrides: Partial<PublishOptions>,
  until: number,
): Promise<ReadonlyMap<string, RetryOutcome>> =>
  withCharges(account, deadLetters.length, (charges) =>
    retryCharged(charges, account, deadLetters, overrides, until),
  );

interface Stored {
  readonly deadLetter: DeadLetter;
  readonly body: StoredBody;
}

interface Claimed extends Stored {
  readonly retryId: string;
}

async function retryCharged(
  charges: Charges,
  account: Account,
  deadLetters: readonly DeadLetter[],
  overrides: Partial<PublishOptions>,
  until: number,
): Promise<ReadonlyMap<string, RetryOutcome>> {
  const outcomes: Outcomes = new Map();
  let left = await withBodies(deadLetters, outcomes);
  for (let pauseMs = firstPauseMs; ; pauseMs *= 2) {
    const theirs: Stored[] = [];
    // Each chunk is sent and removed before the next is read, so that less is left to do if the process dies.
    for (const chunk of weighedChunksOf(left, bodyBytesAtOnce, ({ body }) => mostBytesOf(body))) {
      const claims = await claimEach(charges, account, chunk, outcomes);
      theirs.push(...claims.theirs);
      for (const [dlqId, outcome] of await sendClaimed(account, claims.ours, overrides)) {
        if (typeof outcome !== 'object') charges.giveBack(1);
        outcomes.set(dlqId, outcome);
      }
    }
    if (theirs.length === 0) return outcomes;
    const leftMs = until - now();
    if (leftMs <= 0) {
      for (const { deadLetter } of theirs) outcomes.set(deadLetter.dlqId, 'failed');
      return outcomes;
    }
    await setTimeout(Math.min(pauseMs, leftMs));
    left = theirs;
  }
}

/** A dead letter whose message has expired is treated as gone. */
async function withBodies(
  deadLetters: readonly DeadLetter[],
  outcomes: Outcomes,
): Promise<readonly Stored[]> {
  const bodies = new Map<DeadLetter, StoredBody>();
  await eachOf(deadLetters, atOnce, async (deadLetter) => {
    const body = await loadStoredBody(deadLetter.message);
    if (body === undefined) outcomes.set(deadLetter.dlqId, 'gone');
    else bodies.set(deadLetter, body);
  });
  return [...bodies].map(([deadLetter, body]) => ({ deadLetter, body }));
}

/**
 * @param outcomes gets the outcomes that are decided here
 * @returns `ours` to send, and `theirs`, which another process is sending
 */
async function claimEach(
  charges: Charges,
  account: Account,
  deadLetters: readonly Stored[],
  outcomes: Outcomes,
): Promise<{ readonly ours: readonly Claimed[]; readonly theirs: readonly Stored[] }> {
  const ours: Claimed[] = [];
  const theirs: Stored[] = [];
  await eachOf(deadLetters, atOnce, async (stored) => {
    const { dlqId } = stored.deadLetter;
    const refusal = charges.charge(1);
    if (refusal !== undefined) {
      outcomes.set(dlqId, refusal);
      return;
    }
    const time = now();
    const claim = await claimRetry(account.id, dlqId, {
      retryId: newId('msg', time, account.shards),
      now: time,
      endedBy: time - retryTimeoutMs,
    });
    if (claim.state === 'ours') {
      ours.push({ ...stored, retryId: claim.retryId });
      return;
    }
    charges.giveBack(1);
    if (claim.state === 'theirs') theirs.push(stored);
    else outcomes.set(dlqId, claim.state === 'sent' ? { messageId: claim.retryId } : 'gone');
  });
  return { ours, theirs };
}

/** Dead letters whose message is not accepted stay in the queue. */
async function sendClaimed(
  account: Account,
  claimed: readonly Claimed[],
  overrides: Partial<PublishOptions>,
): Promise<ReadonlyMap<string, RetryOutcome>> {
  const drafts: (Draft & { readonly deadLetter: DeadLetter })[] = [];
  await eachOf(claimed, atOnce, async ({ deadLetter, body, retryId }) => {
    const { message } = deadLetter;
    drafts.push({
      deadLetter,
      message: renewed(account, message, overrides, retryId),
      body: await loadBody(message.messageId, body),
    });
  });
  const failures = await acceptEach(drafts);
  const sent = drafts.filter(({ message }) => !failures.has(message));
  // Noted before the removal, so that another process continues if this one dies.
  await eachOf(sent, atOnce, ({ deadLetter, message }) =>
    logAndContinue(noteRetry(deadLetter.message, message.messageId)),
  );
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
