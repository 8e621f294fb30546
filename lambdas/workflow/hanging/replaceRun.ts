/**
 * Replaces an active run with a new one. First the new run is stored completely, then the old run's start
 * names it, and finally the old run is cancelled. If a process dies in between, the next request continues.
 */
import type { Account } from '../../account/account.ts';
import type { HttpError } from '../../error/httpError.ts';
import { now } from '../../shared/clock.ts';
import { newId, timeOfId } from '../../shared/ids.ts';
import { withCharges } from '../../usage/charge.ts';
import { isActive, type RunKey } from '../rules/journal.ts';
import { begunBefore, copyRun, type RerunPlan } from '../runs/copyRun.ts';
import { followStarts } from '../runs/follow.ts';
import { loadRunJournal, type RunJournal } from '../runs/loadRun.ts';
import { entriesOf } from '../rules/entry.ts';
import { endRun } from '../steps/end.ts';
import { chooseReplacement } from '../store/journals.ts';

interface RunToReplace extends RunJournal {
  /** The run that an earlier request chose as this run's replacement. */
  readonly replacedBy: string | undefined;
}

/** @returns undefined if the run was not replaced and is not active, or has expired */
export async function loadRunToReplace(key: RunKey, startSeq: number): Promise<RunToReplace | undefined> {
  const run = await loadRunJournal(key, startSeq);
  if (run === undefined) return undefined;
  const replacedBy = run.snapshot.state === 'RUN_FAILED' ? undefined : run.records[0].resumedAs?.runId;
  return replacedBy === undefined && !isActive(run.snapshot) ? undefined : { ...run, replacedBy };
}

/** @returns the id of the new run, or the refusal if the account's limits do not allow it */
export async function replaceRun(
  account: Account,
  run: RunToReplace,
  plan: RerunPlan,
): Promise<string | HttpError> {
  const runId = run.replacedBy ?? (await makeReplacement(account, run, plan));
  if (typeof runId !== 'string') return runId;
  const begun = await begunBefore(account, runId);
  if (begun !== undefined) await followStarts(account, [begun], true);
  const { createdAt } = run.snapshot;
  await endRun(account, { runId: run.key.runId, createdAt }, { state: 'RUN_CANCELED' });
  return runId;
}

const makeReplacement = (
  account: Account,
  { key, start, snapshot, records }: RunToReplace,
  plan: RerunPlan,
): Promise<string | HttpError> =>
  withCharges(account, 1, async ({ charge, giveBack }) => {
    const refusal = charge(1);
    if (refusal !== undefined) return refusal;
    const own = newId('wfr', now());
    await copyRun(account, { start, entries: records.flatMap(entriesOf) }, own, plan);
    const chosen = await chooseReplacement(key, snapshot.startSeq, {
      runId: own,
      createdAt: timeOfId(own),
    });
    if (chosen === undefined) throw new Error(`The start of the run ${key.runId} is not there.`);
    if (chosen !== own) giveBack(1);
    return chosen;
  });
