/** The failure function of a run by hand: it is run again when it failed, and cancelled while it is to run. */
import type { Answer } from '../wire/answers.ts';
import type { rerunAnswer } from '../wire/workflowAnswers.ts';
import type { Account } from '../account/account.ts';
import { now } from '../shared/clock.ts';
import { badRequest } from '../error/httpError.ts';
import { newId } from '../shared/ids.ts';
import { isOver } from '../message/message.ts';
import { attemptJob } from '../job/job.ts';
import { mayCancel, mayRerun } from './failure/failure.ts';
import type { FailureFunctionState } from '../wire/states.ts';
import type { FailureFunctionRecord, Snapshot } from './rules/journal.ts';
import { noteFailureState } from '../deadLetter/rows.ts';
import { loadMessage } from '../message/history.ts';
import { loadRecord, type RunKey } from './store/journals.ts';
import { sendJob } from '../job/send.ts';
import { deadLetterOf, isOfRun, noSuchDeadLetter, type DeadLetterOfRun } from '../deadLetter/deadLetters.ts';
import { withdraw } from '../publish/withdraw.ts';
import { withCharges } from '../usage/charge.ts';
import { changeRun, type Decision } from './runs/changeRun.ts';
import { failureRequestIdOf } from './failure/failureRequestId.ts';
import { storeRequestOf } from './failure/failureRequest.ts';
import { loadRun } from './runs/loadRun.ts';

const keyOf = ({ message: { accountId }, workflow: { runId } }: DeadLetterOfRun): RunKey => ({
  accountId,
  runId,
});

/** The state of the failure function as the journal has it; undefined where that has another run by now. */
const stateIn = (
  head: Snapshot | undefined,
  { workflow }: DeadLetterOfRun,
): FailureFunctionState | undefined => (head?.startSeq === workflow.startSeq ? head.failureState : undefined);

const saying = (state: FailureFunctionState | undefined): string =>
  state === undefined ? 'Nobody is told of the failure' : `The failure function is ${state}`;

/**
 * Tells of a run's failure once more, with a message of its own.
 *
 * @throws HttpError 404; 400 unless the failure function has failed; or as for a publish
 */
export async function rerunFailureCallback(
  account: Account,
  dlqId: string,
): Promise<Answer<typeof rerunAnswer>> {
  const deadLetter = await deadLetterOf(account, dlqId, isOfRun);
  await withCharges(account, 1, (charges) => {
    const refused = charges.charge(1);
    if (refused !== undefined) throw refused;
    return rerun(account, deadLetter);
  });
  const { runId, createdAt } = deadLetter.workflow;
  return { workflowRunId: runId, workflowCreatedAt: createdAt };
}

async function rerun(account: Account, deadLetter: DeadLetterOfRun): Promise<void> {
  const time = now();
  const note: FailureFunctionRecord = {
    kind: 'failureFunction',
    at: time,
    state: 'CALLBACK_INPROGRESS',
    messageId: newId('msg', time, account.shards),
  };
  const { head, record } = await changeRun(keyOf(deadLetter), (current): Decision<undefined> =>
    mayRerun(stateIn(current, deadLetter)) ? { record: note, result: undefined } : { result: undefined },
  );
  if (record !== undefined) {
    await sendAgain(account, deadLetter, note);
    return;
  }
  const state = stateIn(head, deadLetter);
  if (head !== undefined && state === 'CALLBACK_INPROGRESS') {
    // Whoever wrote that may have died before the message was sent.
    const last = await loadRecord(keyOf(deadLetter), head.seq);
    if (last?.kind === 'failureFunction') await sendAgain(account, deadLetter, last);
  }
  throw badRequest('wrong_state', `${saying(state)}; it is run again only where it is CALLBACK_FAIL.`);
}

/** Stores and sends the message of a record, over one that an earlier try has left; not one that has come to its end. */
async function sendAgain(
  account: Account,
  deadLetter: DeadLetterOfRun,
  { messageId, at }: FailureFunctionRecord,
): Promise<void> {
  const { dlqId, message, retried } = deadLetter;
  const key = keyOf(deadLetter);
  const sent = await loadMessage({ accountId: key.accountId, messageId });
  if (sent !== undefined && (isOver(sent) || sent.attempts.length > 0)) return;
  const [run, failed] = await Promise.all([loadRun(key, deadLetter.workflow.startSeq), loadMessage(message)]);
  const last = failed?.attempts.find(({ number }) => number === retried);
  if (run === undefined) throw noSuchDeadLetter(dlqId);
  // Before it can end: its end is noted over this.
  await noteFailureState(key.accountId, dlqId, 'CALLBACK_INPROGRESS', 'CALLBACK_FAIL');
  const { responseStatus: status, responseHeaders: headers, responseBody, error } = deadLetter;
  const response = last?.response ?? { status, error, headers, body: responseBody ?? new Uint8Array() };
  const request = await storeRequestOf(
    account,
    run,
    { message, response, retried, dlqId },
    { messageId, createdAt: at },
  );
  if (request === undefined) throw new Error(`Nobody is told of the failure of ${key.runId}.`);
  await sendJob(attemptJob(request, 0), request.notBefore);
}

/**
 * Cancels the message that tells of a run's failure: no attempt starts after this. One that is in flight may still arrive.
 *
 * @throws HttpError 404; 400 unless the failure function is to run
 */
export async function cancelFailureCallback(account: Account, dlqId: string): Promise<void> {
  const deadLetter = await deadLetterOf(account, dlqId, isOfRun);
  const key = keyOf(deadLetter);
  const change = await changeRun(key, async (current): Promise<Decision<string | undefined>> => {
    // Looked for each time: by now the failure function may have failed, and be run again by another message.
    const messageId = await failureRequestIdOf(key, deadLetter.workflow.startSeq);
    if (messageId === undefined || !mayCancel(stateIn(current, deadLetter))) return { result: messageId };
    const note: FailureFunctionRecord = {
      kind: 'failureFunction',
      at: now(),
      state: 'CALLBACK_CANCELED',
      messageId,
    };
    return { record: note, result: messageId };
  });
  const { head, record, result: requestId } = change;
  const state = stateIn(head, deadLetter);
  // Also where that was written before, by whoever died before this.
  if (state === 'CALLBACK_CANCELED' && requestId !== undefined) {
    await noteFailureState(key.accountId, dlqId, 'CALLBACK_CANCELED', 'CALLBACK_INPROGRESS');
    const request = await loadMessage({ accountId: key.accountId, messageId: requestId });
    if (request !== undefined && !isOver(request)) await withdraw(request.message, request.attempts.at(-1));
  }
  if (record === undefined) {
    throw badRequest(
      'wrong_state',
      `${saying(state)}; it is cancelled only while it is CALLBACK_INPROGRESS.`,
    );
  }
}
