import type { Account } from '../../account/account.ts';
import { isMeant, type RunKey, type Snapshot, type WhichRun } from '../rules/journal.ts';
import { endedRun } from '../rules/refusals.ts';
import { settingsOfRun } from '../runs/changeRun.ts';
import { loadSnapshot } from '../store/journals.ts';
import { noteFailureCallback, type TellingConfig } from './failureCallback.ts';

export interface Submitted {
  readonly messageId: string;
  /** Whether it had already been accepted. */
  readonly isDuplicate: boolean;
}

/** @throws HttpError 400 if the run has ended or is unknown */
export function activeSnapshot(snapshot: Snapshot | undefined, which: WhichRun): Snapshot {
  if (snapshot === undefined || !isMeant(snapshot, which)) throw endedRun(which.runId);
  return snapshot;
}

/**
 * @param which the run as the message names it
 * @param telling the message's failure callback, which is recorded
 * @throws HttpError 400 if the run has ended or is unknown, 403 if it is outside the scope of the request's token
 */
export async function loadActiveRun(account: Account, which: WhichRun, telling?: TellingConfig) {
  const key: RunKey = { accountId: account.id, runId: which.runId };
  const snapshot = activeSnapshot(await loadSnapshot(key), which);
  const run = { key, snapshot, start: await settingsOfRun(key, snapshot) };
  account.scope?.refuse("The run's endpoint", run.start.url);
  return { ...run, start: await noteFailureCallback(run, telling) };
}
