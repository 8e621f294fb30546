/**
 * Runs failed runs again. First the new run is stored completely, then the dead letter's row names it, and
 * finally the dead letter is removed. So if a process dies, no run is lost or started twice.
 */
import { setTimeout } from 'node:timers/promises';
import type { Account } from '../../account/account.ts';
import { log } from '../../aws/log.ts';
import { logAndContinue } from '../../aws/logAndContinue.ts';
import { isOfRun, type DeadLetterOfRun } from '../../deadLetter/deadLetters.ts';
import type { DeadRun, ListedDeadLetter } from '../../deadLetter/rows.ts';
import { removeDeadLetters } from '../../deadLetter/size.ts';
import type { HttpError } from '../../error/httpError.ts';
import { now } from '../../shared/clock.ts';
import { newId, timeOfId } from '../../shared/ids.ts';
import { chunksOf, eachOf } from '../../shared/lists.ts';
import { withCharges, type Charges } from '../../usage/charge.ts';
import { begunBefore, begunOf, copyRun, rerunTimeoutMs, type RerunPlan } from '../runs/copyRun.ts';
import { followStarts, sendStartChecks, type Begun } from '../runs/follow.ts';
import { loadRun } from '../runs/loadRun.ts';
import { chooseRun, claimRun, findRerun } from '../store/deadRuns.ts';
import { noteRerun } from '../store/journals.ts';

/**
 * Dead letters that other processes have claimed are read again after this pause, which doubles each time.
 */
const firstPauseMs = 500;

/** Dead letters in one step of a bulk operation. */
export const takenAtOnce = 20;
/** At most this many, because the bodies of a run have up to 32 MB. */
const copiedAtOnce = 4;

const notedAtOnce = 10;

/**
 * The new run; `gone` if the dead letter is gone; `failed` if the run could not be started; or the refusal if
 * a limit of the account does not allow it.
 */
type RerunOutcome = { readonly newRunId: string } | 'gone' | 'failed' | HttpError;

/** A requested dead letter; only its id if it is not in the queue. */
export interface WantedRerun {
  readonly dlqId: string;
  readonly deadLetter: ListedDeadLetter['deadLetter'];
}

/**
 * @param until when to stop waiting for other processes
 * @returns the outcomes, in the order of the dead letters
 */
export async function rerunEach(
  account: Account,
  wanted: readonly WantedRerun[],
  plans: (failed: DeadRun) => RerunPlan,
  kind: RerunPlan['kind'],
  until: number,
): Promise<readonly RerunOutcome[]> {
  const outcomes = new Map<string, RerunOutcome>();
  const there = wanted.flatMap(({ deadLetter }) =>
    deadLetter !== undefined && isOfRun(deadLetter) ? [deadLetter] : [],
  );
  await eachOf(wanted, copiedAtOnce, async ({ dlqId, deadLetter }) => {
    if (deadLetter !== undefined) return;
    const runId = await findRerun(account.id, dlqId, kind);
    if (runId !== undefined) outcomes.set(dlqId, { newRunId: runId });
  });
  await withCharges(account, there.length, async (charges) => {
    let left: readonly DeadLetterOfRun[] = there;
    for (let pauseMs = firstPauseMs; left.length > 0; pauseMs *= 2) {
      const theirs = await takeEach(charges, account, left, plans, outcomes);
      const leftMs = until - now();
      for (const { dlqId } of leftMs <= 0 ? theirs : []) outcomes.set(dlqId, 'failed');
      if (leftMs <= 0 || theirs.length === 0) return;
      await setTimeout(Math.min(pauseMs, leftMs));
      left = theirs;
    }
  });
  return wanted.map(({ dlqId }) => outcomes.get(dlqId) ?? 'gone');
}

/** @returns the dead letters that other processes have claimed */
async function takeEach(
  charges: Charges,
  account: Account,
  deadLetters: readonly DeadLetterOfRun[],
  plans: (failed: DeadRun) => RerunPlan,
  outcomes: Map<string, RerunOutcome>,
): Promise<readonly DeadLetterOfRun[]> {
  const theirs: DeadLetterOfRun[] = [];
  for (const some of chunksOf(deadLetters, takenAtOnce)) {
    const made: Made[] = [];
    await eachOf(some, copiedAtOnce, async (deadLetter) => {
      const refusal = charges.charge(1);
      const taken = refusal ?? (await take(account, deadLetter, plans(deadLetter.workflow)));
      if (typeof taken === 'object' && 'begun' in taken) {
        made.push(taken);
        return;
      }
      if (refusal === undefined) charges.giveBack(1);
      if (taken === 'theirs') theirs.push(deadLetter);
      else outcomes.set(deadLetter.dlqId, taken);
    });
    const isSent = await send(account, made);
    if (!isSent) charges.giveBack(made.length);
    for (const { deadLetter, runId } of made) {
      outcomes.set(deadLetter.dlqId, isSent ? { newRunId: runId } : 'failed');
    }
  }
  return theirs;
}

interface Made {
  readonly deadLetter: DeadLetterOfRun;
  readonly runId: string;
  /** Undefined if the run's id has another run now. */
  readonly begun: Begun | undefined;
}

function logFailure(error: unknown, dlqIds: readonly string[]): 'failed' {
  log.error('Failed runs could not be started again; their dead letters are still there', {
    dlqIds,
    error: error instanceof Error ? error : String(error),
  });
  return 'failed';
}

/** Makes the run that resumes a dead letter, unless another process is doing it. */
async function take(
  account: Account,
  deadLetter: DeadLetterOfRun,
  plan: RerunPlan,
): Promise<Made | Exclude<RerunOutcome, HttpError> | 'theirs'> {
  const { dlqId } = deadLetter;
  const time = now();
  try {
    const claim = await claimRun(account.id, dlqId, { now: time, endedBy: time - rerunTimeoutMs });
    if (claim.state === 'done') return { newRunId: claim.runId };
    if (claim.state !== 'ours') return claim.state;
    if (claim.runId !== undefined) {
      return { deadLetter, runId: claim.runId, begun: await begunBefore(account, claim.runId) };
    }
    const failed = await loadRun(
      { accountId: account.id, runId: deadLetter.workflow.runId },
      deadLetter.workflow.startSeq,
    );
    if (failed === undefined) return 'gone';
    const own = newId('wfr', now());
    const copy = await copyRun(account, failed, own, plan);
    // From here on, the dead letter may name this run as the one that resumes it.
    await sendStartChecks([
      { accountId: account.id, runId: own, messageId: copy.record.entry.messageId, dlqId },
    ]);
    const runId = await chooseRun(account.id, dlqId, { runId: own, kind: plan.kind });
    if (runId === undefined) return 'gone';
    const begun = runId === own ? begunOf(account, own, copy) : await begunBefore(account, runId);
    return { deadLetter, runId, begun };
  } catch (error) {
    return logFailure(error, [dlqId]);
  }
}

/** @returns whether the runs were delivered; otherwise the next request or a job does it */
async function send(account: Account, made: readonly Made[]): Promise<boolean> {
  const deadLetters = made.map(({ deadLetter }) => deadLetter);
  try {
    await followStarts(
      account,
      made.flatMap(({ begun }) => begun ?? []),
      true,
    );
  } catch (error) {
    logFailure(
      error,
      deadLetters.map(({ dlqId }) => dlqId),
    );
    return false;
  }
  // Recorded before anything is sent, so that another process continues if this one dies.
  await eachOf(made, notedAtOnce, async ({ deadLetter, runId }) => {
    const { runId: failed, startSeq } = deadLetter.workflow;
    const note = noteRerun({ accountId: account.id, runId: failed }, startSeq, {
      runId,
      createdAt: timeOfId(runId),
    });
    await logAndContinue(note);
  });
  await removeDeadLetters(account.id, deadLetters, 'sent');
  return true;
}
