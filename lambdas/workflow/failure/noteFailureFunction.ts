import { noteFailureState } from '../../deadLetter/rows.ts';
import type { RecordedAttempt } from '../../message/history.ts';
import type { WorkflowPart } from '../../message/message.ts';
import type { FailureFunctionRecord } from '../rules/journal.ts';
import { changeRun, type Decision } from '../runs/changeRun.ts';
import { failureFunctionStateAfter } from './failure.ts';
import { keyOf } from './failureRequest.ts';

export async function noteFailureFunction(recorded: RecordedAttempt, part: WorkflowPart): Promise<void> {
  const { history, attempt } = recorded;
  const { message } = history;
  const key = keyOf(recorded, part);
  const state = failureFunctionStateAfter(attempt.state, message.prefix, attempt.response.headers);
  if (part.dlqId !== undefined) {
    await noteFailureState(key.accountId, part.dlqId, state, 'CALLBACK_INPROGRESS');
  }
  const note: FailureFunctionRecord = {
    kind: 'failureFunction',
    at: attempt.recordedAt,
    state,
    messageId: message.messageId,
  };
  await changeRun(key, (snapshot): Decision<undefined> => {
    const isTold = snapshot?.startSeq === part.startSeq && snapshot.failureState === 'CALLBACK_INPROGRESS';
    return isTold ? { record: note, result: undefined } : { result: undefined };
  });
}
