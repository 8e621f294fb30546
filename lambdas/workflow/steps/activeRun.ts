import type { Account } from '../../account/account.ts';
import {
  isMeant,
  type CallRecord,
  type InvokeRecord,
  type RunKey,
  type Snapshot,
  type WhichRun,
} from '../rules/journal.ts';
import { checkPlace, hasStepOrResult } from '../rules/placing.ts';
import { endedRun } from '../rules/refusals.ts';
import { changeRun, extendRun, settingsOfRun } from '../runs/changeRun.ts';
import { loadSnapshot } from '../store/journals.ts';
import { noteFailureCallback, type TellingConfig } from './namedFailureCallback.ts';

export interface Submitted {
  readonly messageId: string;
  /** Whether the step had already been accepted. */
  readonly isDuplicate: boolean;
}

/** @throws HttpError 400 if the run has ended or is unknown */
export function activeSnapshot(snapshot: Snapshot | undefined, which: WhichRun): Snapshot {
  if (snapshot === undefined || !isMeant(snapshot, which)) throw endedRun(which.runId);
  return snapshot;
}

/**
 * Begins a step whose result comes from elsewhere, unless it has already begun.
 *
 * @param needed until when the step needs the run's records
 * @throws HttpError 400 if the run has ended or is unknown, 412 if the step can never be accepted
 */
export async function beginStep(
  key: RunKey,
  which: WhichRun,
  begun: CallRecord | InvokeRecord,
  needed: number,
): Promise<{ readonly active: Snapshot; readonly isNew: boolean }> {
  const { kind, step } = begun;
  const { snapshot, record } = await changeRun(key, async (current) => {
    const active = activeSnapshot(current, which);
    if (hasStepOrResult(active.steps, kind, step.stepId)) return undefined;
    checkPlace(active, step);
    return { record: begun, keptUntil: await extendRun(key, active, needed) };
  });
  return { active: activeSnapshot(snapshot, which), isNew: record !== undefined };
}

/**
 * @param which the run as the message names it
 * @param telling the message's failure callback, which is recorded in the run
 * @throws HttpError 400 if the run has ended or is unknown, 403 if it is outside the scope of the request's
 * token
 */
export async function loadActiveRun(account: Account, which: WhichRun, telling?: TellingConfig) {
  const key: RunKey = { accountId: account.id, runId: which.runId };
  const snapshot = activeSnapshot(await loadSnapshot(key), which);
  const run = { key, snapshot, start: await settingsOfRun(key, snapshot) };
  account.scope?.refuse("The run's endpoint", run.start.url);
  return { ...run, start: await noteFailureCallback(run, telling) };
}
