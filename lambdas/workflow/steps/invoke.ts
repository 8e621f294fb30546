import type { Account } from '../../account/account.ts';
import { now } from '../../shared/clock.ts';
import { quote } from '../../error/httpError.ts';
import { newId } from '../../shared/ids.ts';
import { latestEndOf } from '../../message/message.ts';
import type { Snapshot, InvokeRecord, JournalRecord, RunKey } from '../rules/journal.ts';
import { refusedSubmission } from '../rules/refusals.ts';
import type { StartMessage } from '../rules/workflowMessage.ts';
import { neededUntil } from '../runs/changeRun.ts';
import { searchRecord } from '../runs/follow.ts';
import type { PreparedPart } from './prepare.ts';
import { startOf, startRun, type Started } from './start.ts';
import { beginStep, loadActiveRun } from './activeRun.ts';

/**
 * Starts a run for another run, the invoker, which waits for its end. The invoker's journal is written first
 * and fixes the new run's id, because the client makes another id with each try.
 *
 * @throws HttpError 400 if the invoker has ended or is unknown, 412 if the invoke can never be accepted
 */
export async function submitInvoke(account: Account, part: PreparedPart<StartMessage>): Promise<Started> {
  if (part.invoke === undefined) throw new Error('The body of an invoke was not read.');
  const { payload, invoker } = part.invoke;
  const key: RunKey = { accountId: account.id, runId: invoker.runId };
  const time = now();
  const begun: InvokeRecord = {
    kind: 'invoke',
    at: time,
    step: invoker.step,
    messageId: newId('msg', time, account.shards),
    runId: part.message.runId ?? newId('wfr', time),
    createdAt: time,
    url: part.url,
  };
  // Otherwise the settings of the invoking run are not needed.
  if (part.telling?.options.failureCallback !== undefined || account.scope !== undefined) {
    await loadActiveRun(account, invoker, part.telling);
  }
  const { notBefore } = part.options;
  // An invoked run that lasts longer keeps extending the invoker.
  const { settings } = startOf(account, part);
  const needed = neededUntil(account, settings, latestEndOf({ ...settings, notBefore }));
  const { active, isNew } = await beginStep(key, invoker, begun, needed);
  const first = isNew ? begun : await invokeOf(key, active, invoker.step.stepId);
  const start = startOf(account, part, { ...invoker, createdAt: active.createdAt });
  const started = await startRun(account, {
    runId: first.runId,
    start,
    payload,
    notBefore,
    fixed: { messageId: first.messageId, createdAt: first.createdAt },
  });
  if (started.isOther) {
    // A run that was started otherwise would not report its end to this invoker.
    throw refusedSubmission(
      `The run ${quote(first.runId)} is active and was not invoked by this step; another id is needed.`,
    );
  }
  return { ...started, isDuplicate: !isNew };
}

/** Finds the earlier invoke. @throws HttpError 412 for a step that has a result without an invoke */
async function invokeOf(key: RunKey, snapshot: Snapshot, stepId: number): Promise<InvokeRecord> {
  const isIt = (one: JournalRecord): one is InvokeRecord =>
    one.kind === 'invoke' && one.step.stepId === stepId;
  const found = await searchRecord(key, snapshot, isIt);
  if (found === undefined) throw refusedSubmission(`Step ${stepId} of the run has its result already.`);
  return found;
}
