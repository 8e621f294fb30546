/** Sends the message that calls a run's failure function again, at a user's request. */
import type { Account } from '../../account/account.ts';
import { noSuchDeadLetter, type DeadLetterOfRun } from '../../deadLetter/deadLetters.ts';
import { noteFailureState } from '../../deadLetter/rows.ts';
import { badRequest } from '../../error/httpError.ts';
import { attemptJob } from '../../job/job.ts';
import { sendJob } from '../../job/send.ts';
import { loadMessage } from '../../message/history.ts';
import { isOver } from '../../message/message.ts';
import { withdraw } from '../../publish/withdraw.ts';
import type { FailureFunctionRecord, RunKey, Snapshot } from '../rules/journal.ts';
import { loadRun } from '../runs/loadRun.ts';
import { storeRequestOf } from './failureRequest.ts';

export const runOf = ({ message: { accountId }, workflow: { runId } }: DeadLetterOfRun): RunKey => ({
  accountId,
  runId,
});

/** The state of the failure function; undefined if the run's id has another run now. */
export const stateIn = (
  snapshot: Snapshot | undefined,
  { workflow }: DeadLetterOfRun,
): Snapshot['failureState'] => (snapshot?.startSeq === workflow.startSeq ? snapshot.failureState : undefined);

/** Sends the message's job again, unless the message was attempted or has ended. */
export async function sendAgain(
  account: Account,
  deadLetter: DeadLetterOfRun,
  { messageId, at }: FailureFunctionRecord,
): Promise<void> {
  const { dlqId, message, retried } = deadLetter;
  const key = runOf(deadLetter);
  const sent = await loadMessage({ accountId: key.accountId, messageId });
  if (sent !== undefined && (isOver(sent) || sent.attempts.length > 0)) return;
  const [run, failed] = await Promise.all([loadRun(key, deadLetter.workflow.startSeq), loadMessage(message)]);
  const last = failed?.attempts.find(({ number }) => number === retried);
  if (run === undefined) throw noSuchDeadLetter(dlqId);
  // Written before the message is sent, because the message's end overwrites it.
  await noteFailureState(key.accountId, dlqId, 'CALLBACK_INPROGRESS', 'CALLBACK_FAIL');
  const { responseStatus: status, responseHeaders: headers, responseBody, error } = deadLetter;
  const response = last?.response ?? { status, error, headers, body: responseBody ?? new Uint8Array() };
  const request = await storeRequestOf(
    account,
    run,
    { message, response, retried, dlqId },
    { messageId, createdAt: at },
  );
  if (request === undefined)
    throw badRequest('wrong_state', 'Neither the run nor the account still has a failure callback.');
  await sendJob(attemptJob(request, 0), request.notBefore);
}

export async function withdrawRequest({ accountId }: RunKey, messageId: string): Promise<void> {
  const request = await loadMessage({ accountId, messageId });
  if (request !== undefined && !isOver(request)) await withdraw(request);
}
