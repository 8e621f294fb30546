/** Runs that go on from failed ones, as they are listed and delivered: by the process that made one, or by another after it. */
import type { Account } from '../../account/account.ts';
import { secondMs } from '../../shared/clock.ts';
import { goingOnFrom } from '../rules/resuming.ts';
import { hasEnded } from '../run.ts';
import { loadSnapshot } from '../store/journals.ts';
import { readCopy, type RunCopy } from './copyRun.ts';
import type { Begun } from './follow.ts';

/** A process that takes longer for one run counts as dead, and another may claim its dead letter. */
export const rerunPatienceMs = 12 * secondMs;

/** Makes of a copied run what is to be listed and delivered of it. */
export function begunOf(account: Account, runId: string, { record, head, entries }: RunCopy): Begun {
  // With these settings of the run, steps have none of their own.
  const settingsHold = record.start.features.includes('WF_TriggerOnConfig');
  const first = goingOnFrom(entries);
  return {
    key: { accountId: account.id, runId },
    head,
    record,
    entries: settingsHold ? first.map((entry) => ({ ...entry, settings: undefined })) : first,
  };
}

/** Reads a run that an earlier process made, and may not have listed and delivered. */
export async function begunBefore(account: Account, runId: string): Promise<Begun | undefined> {
  const key = { accountId: account.id, runId };
  const [copy, head] = await Promise.all([readCopy(key), loadSnapshot(key)]);
  if (copy === undefined || head === undefined) throw new Error(`The run ${runId} is not there.`);
  if (head.startSeq !== copy.head.startSeq) return undefined;
  const begun = begunOf(account, runId, { ...copy, head });
  return hasEnded(head.state) ? { ...begun, entries: [] } : begun;
}
