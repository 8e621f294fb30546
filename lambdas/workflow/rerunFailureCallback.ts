import type { Account } from '../account/account.ts';
import { deadLetterOf, isOfRun, type DeadLetterOfRun } from '../deadLetter/deadLetters.ts';
import { noteFailureState } from '../deadLetter/rows.ts';
import { badRequest } from '../error/httpError.ts';
import { now } from '../shared/clock.ts';
import { newId } from '../shared/ids.ts';
import { withCharges } from '../usage/charge.ts';
import type { Answer } from '../wire/answers.ts';
import type { rerunAnswer } from '../wire/workflowAnswers.ts';
import { runOf, sendAgain, stateIn, withdrawRequest } from './failure/resendRequest.ts';
import type { FailureFunctionRecord } from './rules/journal.ts';
import { changeRun, type Decision } from './runs/changeRun.ts';
import { failureRequestIdOf } from './runs/loadRun.ts';
import { loadRecord } from './store/journals.ts';

const saying = (state: FailureFunctionRecord['state']): string =>
  state === undefined ? 'No failure function runs' : `The failure function is ${state}`;

/**
 * Sends a run's failure callback again, as a new message.
 *
 * @throws HttpError 404; 400 unless the failure function has failed; or as a publish does
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
  const { snapshot, record } = await changeRun(runOf(deadLetter), (current) =>
    stateIn(current, deadLetter) === 'CALLBACK_FAIL' ? { record: note } : undefined,
  );
  if (record !== undefined) {
    await sendAgain(account, deadLetter, note);
    return;
  }
  const state = stateIn(snapshot, deadLetter);
  if (snapshot !== undefined && state === 'CALLBACK_INPROGRESS') {
    // The process that recorded this state may have died before it sent the message.
    const last = await loadRecord(runOf(deadLetter), snapshot.seq);
    if (last?.kind === 'failureFunction') await sendAgain(account, deadLetter, last);
  }
  throw badRequest(
    'wrong_state',
    `${saying(state)}. Only a failure function with the state CALLBACK_FAIL can be run again.`,
  );
}

/**
 * Cancels the failure callback of a run. If an attempt is in flight, it may still arrive.
 *
 * @throws HttpError 404; 400 unless the failure function is still to run
 */
export async function cancelFailureCallback(account: Account, dlqId: string): Promise<void> {
  const deadLetter = await deadLetterOf(account, dlqId, isOfRun);
  const key = runOf(deadLetter);
  const change = await changeRun(key, async (current): Promise<Decision<string | undefined>> => {
    // The failure function may have been run again, by another message.
    const messageId = await failureRequestIdOf(key, deadLetter.workflow.startSeq);
    if (messageId === undefined || stateIn(current, deadLetter) !== 'CALLBACK_INPROGRESS')
      return { result: messageId };
    const note: FailureFunctionRecord = {
      kind: 'failureFunction',
      at: now(),
      state: 'CALLBACK_CANCELED',
      messageId,
    };
    return { record: note, result: messageId };
  });
  const { snapshot, record, result: requestId } = change;
  const state = stateIn(snapshot, deadLetter);
  // Another process may have recorded the state and died before it did this.
  if (state === 'CALLBACK_CANCELED' && requestId !== undefined) {
    await noteFailureState(key.accountId, dlqId, 'CALLBACK_CANCELED', 'CALLBACK_INPROGRESS');
    await withdrawRequest(key, requestId);
  }
  if (record === undefined) {
    throw badRequest(
      'wrong_state',
      `${saying(state)}. Only a failure function with the state CALLBACK_INPROGRESS can be cancelled.`,
    );
  }
}
