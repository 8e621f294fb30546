import { limitsOf } from '../../account/account.ts';
import { deadLetterAttempt } from '../../deadLetter/deadLetter.ts';
import { attemptJob } from '../../job/job.ts';
import { sendJob } from '../../job/send.ts';
import { dlqIdOf } from '../../message/consequenceIds.ts';
import { loadMessage, followsAt, type MadeAttempt, type RecordedAttempt } from '../../message/history.ts';
import { logRetentionMs, type KeptResponse, type Message, type WorkflowPart } from '../../message/message.ts';
import { listedResponseBytes } from '../../message/records.ts';
import { beginningOf } from '../../shared/bytes.ts';
import { countFollowing } from '../../usage/counter.ts';
import { isActive, type EndRecord, type RunFailure, type RunStart, type Snapshot } from '../rules/journal.ts';
import { changeRun, extendRun, settingsOfRun } from '../runs/changeRun.ts';
import { endOfRun, followEndOrLeave } from '../steps/end.ts';
import { loadRun } from '../runs/loadRun.ts';
import { failureCallbackOf, keyOf, requestIdOf, storeRequestOf } from './failureRequest.ts';

/** Stores the failure callback while the whole response is in memory. {@link failRun} sends its job. */
export async function storeFailureRequest(made: MadeAttempt, part: WorkflowPart): Promise<void> {
  const { history, account, attempt, response } = made;
  const run = await loadRun(keyOf(made, part), part.startSeq);
  if (run === undefined) return;
  const { message } = history;
  const failed = { message, response, retried: attempt.number, dlqId: dlqIdOf(history, attempt.number) };
  const request = { messageId: requestIdOf(made), createdAt: attempt.recordedAt };
  await storeRequestOf(account, run, failed, request);
}

const keptBeginning = (response: KeptResponse): KeptResponse => ({
  ...response,
  body: beginningOf(response.body, listedResponseBytes),
});

/**
 * Fails a run after a delivery to its endpoint has failed permanently. Only the delivery that failed the run
 * creates a dead letter and sends the failure callback. Can be repeated.
 */
export async function failRun(recorded: RecordedAttempt, part: WorkflowPart): Promise<void> {
  const { history, account, attempt } = recorded;
  const { messageId } = history.message;
  const key = keyOf(recorded, part);
  const dlqId = dlqIdOf(history, attempt.number);
  const { snapshot, record } = await changeRun(key, async (current) => {
    if (current?.startSeq !== part.startSeq || !isActive(current)) return undefined;
    const end: EndRecord = {
      kind: 'end',
      at: attempt.recordedAt,
      state: 'RUN_FAILED',
      failure: {
        messageId,
        attempt: attempt.number,
        dlqId,
        requestId: (await findRequest(recorded, await settingsOfRun(key, current)))?.messageId,
        response: keptBeginning(attempt.response),
      },
    };
    const limits = limitsOf(account);
    const keptMs = Math.max(limits.max_dlq_retention_time_milis, logRetentionMs(limits));
    const needed = attempt.recordedAt + keptMs;
    return { record: end, keptUntil: await extendRun(key, current, needed) };
  });
  const found =
    record?.kind === 'end' && snapshot !== undefined
      ? { record, snapshot }
      : await endOfRun(key, part.startSeq);
  if (found === undefined) return;
  const { failure } = found.record;
  if (failure?.messageId === messageId) await tellFailure(recorded, part, found.snapshot, failure);
  if (record !== undefined && failure?.requestId !== undefined) await countFollowing(account, 1);
  // Another process may have written the end and died before it did this.
  await followEndOrLeave(account, key, found.snapshot, found.record);
}

/** The failure callback is missing if the delivery failed inside the service. */
async function findRequest(recorded: RecordedAttempt, start: RunStart): Promise<Message | undefined> {
  if (failureCallbackOf(start, recorded.account) === undefined) return undefined;
  const { accountId } = recorded.history.message;
  return (await loadMessage({ accountId, messageId: requestIdOf(recorded) }))?.message;
}

async function tellFailure(
  recorded: RecordedAttempt,
  part: WorkflowPart,
  snapshot: Snapshot,
  { requestId }: RunFailure,
): Promise<void> {
  const { account, attempt } = recorded;
  const start = await settingsOfRun(keyOf(recorded, part), snapshot);
  const { url } = start;
  const { runId, createdAt, startSeq } = part;
  const failureState = requestId === undefined ? undefined : 'CALLBACK_INPROGRESS';
  await deadLetterAttempt(recorded, {
    workflow: { runId, createdAt, startSeq, url, failureState },
    keptUntil: snapshot.keptUntil,
  });
  if (requestId === undefined) return;
  const request = { messageId: requestId, accountId: account.id };
  const callback = failureCallbackOf(start, account);
  if (callback !== undefined) {
    const dueAt = followsAt(recorded, callback, attempt.recordedAt + callback.delayMs);
    await sendJob(attemptJob({ ...callback, ...request }, 0), dueAt);
    return;
  }
  const stored = await loadMessage(request);
  if (stored === undefined) return;
  const { message } = stored;
  await sendJob(attemptJob(message, 0), followsAt(recorded, message, message.notBefore));
}
