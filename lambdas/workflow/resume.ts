/**
 * Runs failed runs again, as new runs: resumed with the steps that they have, or restarted from their payload. The new run is
 * stored whole before the dead letter's row chooses it; what follows, its deliveries, can then be made by whoever comes next,
 * or by the look at the start that is sent before; and at last the dead letter leaves the queue. So a process that dies loses neither of the two, and makes no second run.
 */
import { setTimeout } from 'node:timers/promises';
import type { Answer } from '../wire/answers.ts';
import { parseFilter } from '../wire/filters.ts';
import type * as answers from '../wire/workflowAnswers.ts';
import type { Account } from '../account/account.ts';
import { now } from '../shared/clock.ts';
import type { Header } from '../shared/headers.ts';
import { HttpError, quote } from '../error/httpError.ts';
import { newId, timeOfId } from '../shared/ids.ts';
import { chunksOf, eachOf } from '../shared/lists.ts';
import type { RerunKind } from './rules/resuming.ts';
import { loadDeadLetter, type DeadRun, type ListedDeadLetter } from '../deadLetter/rows.ts';
import { chooseRun, claimRun, findRerun } from './store/deadRuns.ts';
import { log } from '../aws/log.ts';
import {
  isOfRun,
  mostOf,
  noSuchDeadLetter,
  selection,
  type DeadLetterOfRun,
} from '../deadLetter/deadLetters.ts';
import type { RetryRequest } from '../publish/retryDeadLetters.ts';
import { removeDeadLetters } from '../deadLetter/size.ts';
import { onEach } from '../list/pages.ts';
import { withCharges, type Charges } from '../usage/charge.ts';
import { begunBefore, begunOf, rerunPatienceMs } from './runs/begunBefore.ts';
import { copyRun, type RerunPlan } from './runs/copyRun.ts';
import { followStarts, type Begun } from './runs/follow.ts';
import { loadRun } from './runs/loadRun.ts';
import { rerunPlans } from './failure/rerunPlan.ts';
import { sendStartLooks } from './runs/startChecks.ts';

/** A request waits so long for other processes that are at the same; the gateway gives up after 29 s. */
const waitingMs = 2 * rerunPatienceMs;
/** The first pause between two looks at what other processes are at; each is twice as long as the one before. */
const firstPauseMs = 500;

/** Dead letters that one step of a bulk operation takes. */
const takenAtOnce = 20;
/** Runs that are copied at once: the bodies of one have up to 32 MB. */
const copiedAtOnce = 4;
/** The most runs of one answer. */
const mostRuns = 10_000;

type WorkflowRun = Answer<typeof answers.rerunAnswer>;

/** A run was made, or it was not: see the retry of messages for the others. */
type Outcome = WorkflowRun | 'gone' | 'failed' | HttpError;

/** A run that was started when its id was made. */
const shown = (runId: string): WorkflowRun => ({
  workflowRunId: runId,
  workflowCreatedAt: timeOfId(runId),
});

type One = (account: Account, dlqId: string, request: RetryRequest) => Promise<WorkflowRun>;
type Many = (
  account: Account,
  query: readonly Header[],
  request: RetryRequest,
) => Promise<Answer<typeof answers.rerunAnswers>>;

/** @throws HttpError 404, 503, or as for a publish */
export const resumeRun: One = (...request) => rerun('resume', ...request);
export const restartRun: One = (...request) => rerun('restart', ...request);

/** Runs all runs again that a filter selects. Safe to repeat: those that could not be started again are still there. */
export const resumeRuns: Many = (...request) => rerunAll('resume', ...request);
export const restartRuns: Many = (...request) => rerunAll('restart', ...request);

async function rerun(
  kind: RerunKind,
  account: Account,
  dlqId: string,
  request: RetryRequest,
): Promise<WorkflowRun> {
  const plans = await rerunPlans(account, kind, request);
  const deadLetter = await loadDeadLetter(account.id, dlqId, now());
  const [outcome = 'gone'] = await rerunEach(
    account,
    [{ dlqId, deadLetter }],
    plans,
    kind,
    now() + waitingMs,
  );
  if (outcome instanceof HttpError) throw outcome;
  if (outcome === 'gone') throw noSuchDeadLetter(dlqId);
  if (outcome === 'failed') {
    throw new HttpError(
      503,
      'not_stored',
      `The run of ${quote(dlqId)} could not be started again; it is still there.`,
    );
  }
  return outcome;
}

async function rerunAll(
  kind: RerunKind,
  account: Account,
  query: readonly Header[],
  request: RetryRequest,
): Promise<Answer<typeof answers.rerunAnswers>> {
  const filter = parseFilter('deadRuns', query);
  const plans = await rerunPlans(account, kind, request);
  const { scope, rows, selected } = await selection(account, filter, isOfRun);
  const until = now() + waitingMs;
  const workflowRuns: WorkflowRun[] = [];
  const limits = { count: Math.min(mostOf(filter), mostRuns), atOnce: takenAtOnce };
  const wanted = (row: ListedDeadLetter): Wanted | undefined => {
    const deadLetter = selected(row);
    const wasNamed = filter.ids !== undefined && row.deadLetter === undefined;
    return deadLetter !== undefined || wasNamed ? { dlqId: row.id, deadLetter } : undefined;
  };
  const cursor = await onEach(scope, rows, limits, wanted, async (some) => {
    let refusal: HttpError | undefined;
    for (const outcome of await rerunEach(account, some, plans, kind, until)) {
      if (outcome instanceof HttpError) refusal = outcome;
      else if (typeof outcome === 'object') workflowRuns.push(outcome);
    }
    if (refusal === undefined) return;
    refusal.message += ` Started again before that: ${workflowRuns.length} runs.`;
    throw refusal;
  });
  return { workflowRuns, cursor: cursor ?? '' };
}

/** A dead letter that was asked for; by its id alone where it is not in the queue. */
interface Wanted {
  readonly dlqId: string;
  readonly deadLetter: ListedDeadLetter['deadLetter'];
}

/**
 * Runs the runs of dead letters again.
 *
 * @param until Unix milliseconds, after which it waits no longer for other processes
 * @returns the outcomes, in the order of the dead letters
 */
async function rerunEach(
  account: Account,
  wanted: readonly Wanted[],
  plans: (failed: DeadRun) => RerunPlan,
  kind: RerunKind,
  until: number,
): Promise<readonly Outcome[]> {
  const outcomes = new Map<string, Outcome>();
  const there = wanted.flatMap(({ deadLetter }) =>
    deadLetter !== undefined && isOfRun(deadLetter) ? [deadLetter] : [],
  );
  await eachOf(wanted, copiedAtOnce, async ({ dlqId, deadLetter }) => {
    if (deadLetter !== undefined) return;
    const runId = await findRerun(account.id, dlqId, kind);
    if (runId !== undefined) outcomes.set(dlqId, shown(runId));
  });
  await withCharges(account, there.length, async (charges) => {
    let left: readonly DeadLetterOfRun[] = there;
    for (let pauseMs = firstPauseMs; left.length > 0; pauseMs *= 2) {
      const theirs = await takeEach(charges, account, left, plans, outcomes);
      const leftMs = until - now();
      for (const { dlqId } of leftMs <= 0 ? theirs : []) outcomes.set(dlqId, 'failed');
      if (leftMs <= 0 || theirs.length === 0) return;
      // Never beyond the end: the function would be stopped before it could answer.
      await setTimeout(Math.min(pauseMs, leftMs));
      left = theirs;
    }
  });
  return wanted.map(({ dlqId }) => outcomes.get(dlqId) ?? 'gone');
}

/** @returns the dead letters that other processes are at */
async function takeEach(
  charges: Charges,
  account: Account,
  deadLetters: readonly DeadLetterOfRun[],
  plans: (failed: DeadRun) => RerunPlan,
  outcomes: Map<string, Outcome>,
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
      outcomes.set(deadLetter.dlqId, isSent ? shown(runId) : 'failed');
    }
  }
  return theirs;
}

/** A run that a dead letter has chosen. */
interface Made {
  readonly deadLetter: DeadLetterOfRun;
  readonly runId: string;
  /** The run that is to be listed and delivered; nothing where its id has had another run since. */
  readonly begun: Begun | undefined;
}

function logFailure(error: unknown, dlqIds: readonly string[]): 'failed' {
  log.error('Failed runs could not be started again; their dead letters are still there', {
    dlqIds,
    error: error instanceof Error ? error : String(error),
  });
  return 'failed';
}

/** Makes the run that goes on from a dead letter, unless another process is at it or has done so. */
async function take(
  account: Account,
  deadLetter: DeadLetterOfRun,
  plan: RerunPlan,
): Promise<Made | Exclude<Outcome, HttpError> | 'theirs'> {
  const { dlqId } = deadLetter;
  const time = now();
  try {
    const claim = await claimRun(account.id, dlqId, { now: time, endedBy: time - rerunPatienceMs });
    if (claim.state === 'done') return shown(claim.runId);
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
    // From here on it may be the run that the dead letter has chosen.
    await sendStartLooks([
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

/**
 * Lists and delivers runs, and takes their dead letters out.
 *
 * @returns whether they were delivered; else they are by whoever comes next
 */
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
  await removeDeadLetters(account.id, deadLetters, 'sent');
  return true;
}
