import { isServed, type Account } from '../account/account.ts';
import { loadAccount } from '../account/accounts.ts';
import { count } from '../aws/metrics.ts';
import { attemptJob, type AttemptJob } from '../job/job.ts';
import { sendJob } from '../job/send.ts';
import { recordMs, type MessageHistory } from '../message/history.ts';
import { endMessage, noteHeld } from '../message/messages.ts';
import { now, secondMs } from '../shared/clock.ts';
import { resumeAccount } from './accountLanes.ts';
import { extendMessage } from './line/extendMessage.ts';
import type { Acquired, Refusal } from './slots/acquire.ts';
import { dueAttemptOf } from './slots/dueAttemptOf.ts';
import { comeAgain, unlessEarly } from './slots/early.ts';
import { LaneBusy } from './slots/changeLanes.ts';
import { laneGate } from './slots/laneGate.ts';

export type { Acquired };

/**
 * @returns undefined if the attempt waits in a line or its job was sent again; `overdue` if the attempt
 * waited too long for its host and must fail
 */
export async function acquireLanes(
  history: MessageHistory,
  account: Account,
  job: AttemptJob,
  isAgain: boolean,
): Promise<Acquired | 'overdue' | undefined> {
  const dueAttempt = dueAttemptOf(history, account, job, isAgain);
  try {
    const acquired = await unlessEarly(
      () => laneGate.acquire(dueAttempt),
      (one) => one === 'early',
    );
    if (typeof acquired !== 'string' || acquired === 'overdue') return acquired;
    await afterRefusal(history, account, job, isAgain, acquired);
  } catch (error) {
    // A job that SQS redelivers is marked as such, so it must be redelivered. A new job would ignore that
    // another worker may have made the attempt.
    if (isAgain || !(error instanceof LaneBusy)) throw error;
    await sendJob(job, now() + secondMs);
  }
  return undefined;
}

/** The delay until {@link sendFollowUp} checks. Most attempts are recorded by then. */
const followUpMs = 900 * secondMs;

/** Sends a job that checks later whether the worker that had this attempt first has recorded it. */
export const sendFollowUp = (message: MessageHistory['message'], attempt: number): Promise<void> =>
  sendJob(
    { ...attemptJob(message, attempt), isFollowUp: true },
    now() + Math.max(followUpMs, message.timeoutMs + recordMs),
  );

async function afterRefusal(
  history: MessageHistory,
  account: Account,
  job: AttemptJob,
  isAgain: boolean,
  refusal: Refusal,
): Promise<void> {
  if (refusal === 'waits' || refusal === 'held') await extendMessage(history, account, now());
  if (refusal === 'held') {
    await noteHeld(history.message, job.attempt, now());
    count('AttemptsHeldBack');
  }
  if (refusal === 'deleted') {
    if (await endMessage(history.message, 'CANCELED', now())) count('Cancelled');
    return;
  }
  if (isAgain) await sendFollowUp(history.message, job.attempt);
  if (refusal === 'early') await comeAgain(job);
}

/**
 * Makes an attempt wait until its account is active again.
 *
 * The account may become active just before the attempt joins the line. So the account is read again
 * afterwards, and its lane resumed if it is active.
 */
export async function waitForAccount(
  history: MessageHistory,
  account: Account,
  job: AttemptJob,
  isAgain: boolean,
): Promise<void> {
  const refusal = await laneGate.waitForAccount(dueAttemptOf(history, account, job, isAgain));
  await afterRefusal(history, account, job, isAgain, refusal);
  const latest = await loadAccount(account.id, true);
  if (latest !== undefined && isServed(latest)) await resumeAccount(latest);
}
