import type { Account } from '../account/account.ts';
import { attemptJob, type AttemptJob } from '../job/job.ts';
import { sendJob } from '../job/send.ts';
import type { Message } from '../message/message.ts';
import { now, secondMs } from '../shared/clock.ts';
import { queueLane } from './lane.ts';
import { leaveAsCallback, queueSlotOf } from './queueSlot.ts';
import { endLease } from './rules/cancelling.ts';
import { endOfAttempt } from './rules/entry.ts';
import { leave, type DeclineReason } from './rules/leaving.ts';
import { hasEnteredQueue, youngMs } from './slots/dueAttempt.ts';
import { holdingOf } from './slots/dueAttemptOf.ts';
import { comeAgain, unlessEarly } from './slots/early.ts';
import { laneGate } from './slots/laneGate.ts';
import { lanes } from './slots/processLanes.ts';

/**
 * Frees a granted slot that its attempt does not need.
 *
 * If the grant is not written yet, the job is sent again. For a cancelled message it is sent soon, because
 * others wait for the slot. For a finished attempt it is sent when the grant must have been written: only an
 * attempt that was in the line twice has another grant.
 */
export async function declineLanes(job: AttemptJob, reason: DeclineReason): Promise<void> {
  const { admittedTo } = job;
  if (admittedTo === undefined) return;
  const decline = (): Promise<boolean> => laneGate.decline({ ...job, admittedTo }, reason);
  if (reason !== 'cancelled') {
    if (!(await decline())) await sendJob(job, admittedTo.sentAt + youngMs + secondMs);
    return;
  }
  if (!(await unlessEarly(decline, (isDeclined) => !isDeclined))) await comeAgain(job);
}

export async function leaveEndedLanes(message: Message, job: AttemptJob, isAgain: boolean): Promise<void> {
  // Another worker may still be making a redelivered job's attempt.
  await declineLanes(job, isAgain ? 'goesOn' : 'cancelled');
  // An attempt that waits for its account still has its key's slot.
  if (job.admittedTo?.lane === 'account') await leaveLanesAgain(message, job.attempt);
  await (hasEnteredQueue(job) || isAgain ? leaveAsMessage(message, isAgain) : leaveAsCallback(message));
}

/**
 * Leaves the queue of a message that ended. If the message is a callback, also tells the message that waits
 * for it.
 *
 * @param isAgain whether another worker may still be making an attempt
 */
export async function leaveAsMessage(message: Message, isAgain: boolean): Promise<void> {
  await leaveAsCallback(message);
  const slot = queueSlotOf(message);
  if (slot === undefined) return;
  const { accountId, timeoutMs } = message;
  const until = endOfAttempt(timeoutMs, now());
  await lanes.update(queueLane(accountId, slot.queueName), (lane) =>
    isAgain ? endLease(lane, slot.entry, until) : leave(lane, slot.entry),
  );
}

/**
 * Leaves the lanes of a recorded attempt whose worker may have died before leaving them.
 *
 * @param account of the message; undefined if the attempt has surely left its host's circuit
 */
export async function leaveLanesAgain(message: Message, attempt: number, account?: Account): Promise<void> {
  const { accountId, messageId, flowControl } = message;
  const { queue } = attemptJob(message, attempt);
  const holding = account === undefined ? { host: undefined } : holdingOf(message, account);
  await laneGate.leaveAgain({ accountId, messageId, attempt, queue, key: flowControl?.key, ...holding });
}
