import { noteFailureState } from '../../deadLetter/rows.ts';
import type { RecordedAttempt } from '../../message/history.ts';
import type { WorkflowPart } from '../../message/message.ts';
import { changeRun } from '../runs/changeRun.ts';
import { failureFunctionStateAfter } from './failureBody.ts';
import { keyOf } from './failureRequest.ts';

export async function noteFailureFunction(recorded: RecordedAttempt, part: WorkflowPart): Promise<void> {
  const { history, attempt } = recorded;
  const { message } = history;
  const key = keyOf(recorded, part);
  const state = failureFunctionStateAfter(attempt.state, message.prefix, attempt.response.headers);
  if (part.dlqId !== undefined) {
    await noteFailureState(key.accountId, part.dlqId, state, 'CALLBACK_INPROGRESS');
  }
  const { recordedAt: at } = attempt;
  await changeRun(key, (snapshot) => {
    const isTold = snapshot?.startSeq === part.startSeq && snapshot.failureState === 'CALLBACK_INPROGRESS';
    return isTold
      ? { record: { kind: 'failureFunction', at, state, messageId: message.messageId } }
      : undefined;
  });
}
