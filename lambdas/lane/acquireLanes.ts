/** An attempt and the lanes before it: it takes a slot of each, or waits. */
import { isServed, type Account } from '../account/account.ts';
import { loadAccount } from '../account/accounts.ts';
import { count } from '../aws/metrics.ts';
import { attemptJob, type AttemptJob } from '../job/job.ts';
import { sendJob } from '../job/send.ts';
import type { MessageHistory } from '../message/history.ts';
import { endMessage, noteHeld } from '../message/messages.ts';
import { minuteMs, now, secondMs } from '../shared/clock.ts';
import { resumeAccount } from './accountLanes.ts';
import { extendMessage } from './line/extendMessage.ts';
import type { Acquired, Refusal } from './slots/acquire.ts';
import { dueAttemptOf } from './slots/dueAttemptOf.ts';
import { comeAgain, unlessEarly } from './slots/early.ts';
import { LaneBusy } from './slots/lanes.ts';
import { laneGate } from './slots/laneGate.ts';

export type { Acquired };

/**
 * Takes a slot of each lane of an attempt.
 *
 * @returns undefined where it may not go on: it waits in a line, or comes again; `overdue` where it is to fail, because it has
 *   waited for its host for too long
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
    // A job that was handed out before comes back as such: it has to continue from a record that another worker makes.
    if (isAgain || !(error instanceof LaneBusy)) throw error;
    await sendJob(job, now() + secondMs);
  }
  return undefined;
}

/** The time for which a follow-up waits, with a minute for the record: all but the longest attempts have ended by then. */
const followUpMs = 900 * secondMs;
const recordMs = minuteMs;

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
  if (isAgain) {
    // The other worker that got this job may die between the record and what follows from it. This job is dropped, so nobody
    // else would continue: a follow-up checks later whether there is a record.
    const followUp: AttemptJob = { ...attemptJob(history.message, job.attempt), isFollowUp: true };
    await sendJob(followUp, now() + Math.max(followUpMs, history.message.timeoutMs + recordMs));
  }
  if (refusal === 'early') await comeAgain(job);
}

/**
 * Lets an attempt wait until its account is served again.
 *
 * The account is read once more after the attempt has joined the line. So either the change that activates the account finds
 * the attempt there, or this reads that the account is active and resumes its lane.
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
