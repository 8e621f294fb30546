/**
 * The code that workers need from workflows. It is one file, because the bundler adds a chunk to the cold
 * start for each set of files that lazily loaded files share: three such files cost 3 KB.
 */
import { isFinal, type Message, type WorkflowPart } from '../message/message.ts';
import { callbackBody } from '../delivery/callbackBody.ts';
import { callbackIdsOf } from '../message/consequenceIds.ts';
import { loadMessage, type RecordedAttempt } from '../message/history.ts';
import type { KindOfCallback, MessageKind } from '../message/kinds.ts';
import { failGivenUp } from './failure/otherFailures.ts';
import { failRun, storeFailureRequest } from './failure/failRun.ts';
import { hasNoFunction } from './failure/failureBody.ts';
import { noteFailureFunction } from './failure/noteFailureFunction.ts';
import { extendRunFor } from './runs/changeRun.ts';
import { callResultBody } from './delivery/callResult.ts';
import { followEndOrLeave, followUpEnd } from './steps/end.ts';
import { openDelivery } from './delivery/openDelivery.ts';

/** Whether an attempt was the last of its message. */
function endsPart({ attempt }: RecordedAttempt, { role }: WorkflowPart): boolean {
  if (!isFinal(attempt) || attempt.state === 'CANCELED') return false;
  switch (role) {
    case 'list':
    case 'callResult':
      // After a success, the run continues when its endpoint submits steps.
      return attempt.state === 'FAILED';
    case 'failureRequest':
      return true;
    case 'call':
      // A callback brings the answer to the endpoint.
      return false;
  }
}

const callbackOf = (part: WorkflowPart): KindOfCallback => ({
  workflow: { ...part, role: 'callResult' },
  bodyOf: part.role === 'call' ? callResultBody : callbackBody,
});

/** Fails a run whose call will have no result. Otherwise it would wait forever. */
async function failWithoutResult(
  message: Message,
  part: WorkflowPart,
  why: 'deaths' | 'faults',
): Promise<void> {
  if (part.role !== 'call') return;
  const { accountId } = message;
  const history = await loadMessage(message);
  const attempt = history?.attempts.at(-1);
  if (history === undefined || attempt === undefined) return;
  for (const messageId of callbackIdsOf({ history, attempt })) {
    if ((await loadMessage({ accountId, messageId })) !== undefined) continue;
    const key = { accountId, runId: part.runId };
    await failGivenUp(key, part.startSeq, why, `the call ${message.messageId}`);
  }
}

export const messageKind: MessageKind = {
  open: openDelivery,
  // The process that ended the run may have died before the work that follows.
  drop: (_, part, account) => followUpEnd(account, part, followEndOrLeave),
  store: async (made, part) => {
    if (endsPart(made, part) && part.role !== 'failureRequest') await storeFailureRequest(made, part);
  },
  release: async (recorded, part) => {
    if (!endsPart(recorded, part)) return;
    await (part.role === 'failureRequest' ? noteFailureFunction(recorded, part) : failRun(recorded, part));
  },
  callback: callbackOf,
  isUntold: ({ prefix }, { role }, { headers }) =>
    role === 'failureRequest' && hasNoFunction(prefix, headers),
  giveUp: failWithoutResult,
  extend: ({ accountId }, part, expiresAt) => extendRunFor(accountId, part, expiresAt),
};

export { followUpEnd };
export { failRefused } from './failure/otherFailures.ts';
export { giveUpRefused, giveUpRunEnd, giveUpStart, giveUpWait } from './failure/giveUpRun.ts';
export { checkWait } from './waits/checkWait.ts';
export { checkStart } from './steps/checkStart.ts';
