/** An attempt and the lanes behind it: it leaves them, or declines a grant that it does not need any more. */
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
import { circuitHost } from './slots/dueAttemptOf.ts';
import { comeAgain, unlessEarly } from './slots/early.ts';
import { laneGate } from './slots/laneGate.ts';
import { lanes } from './slots/processLanes.ts';

/**
 * Ends the grant of a job that is not needed any more.
 *
 * Where the grant is not written yet, the job comes again. The job of a cancelled message comes soon: its grant is about to be
 * written, and those behind it wait for its slot. An attempt that was made gets another grant only where it stood in the line
 * twice: for that one check suffices, at a time when the grant must have been written.
 *
 * @param reason why its message does not need it
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

/** Leaves the lanes of a message that was ended before this attempt of it. */
export async function leaveEndedLanes(message: Message, job: AttemptJob, isAgain: boolean): Promise<void> {
  // Where the job comes again, another worker may still be making the attempt.
  await declineLanes(job, isAgain ? 'goesOn' : 'cancelled');
  // The attempt kept its key's slot while it waited for its account.
  if (job.admittedTo?.lane === 'account') await leaveLanesAgain(message, job.attempt);
  await (hasEnteredQueue(job) || isAgain ? leaveAsMessage(message, isAgain) : leaveAsCallback(message));
}

/**
 * Leaves the queue of a message that was ended, also as a callback of another message.
 *
 * @param isAgain whether another worker may still be making an attempt of it
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
 * Leaves the lanes of an attempt that was recorded by a worker which may have died before it did.
 *
 * @param account the message's; undefined where the attempt has left the circuit of its host for certain
 */
export async function leaveLanesAgain(message: Message, attempt: number, account?: Account): Promise<void> {
  const { accountId, messageId, flowControl } = message;
  const { queue } = attemptJob(message, attempt);
  const host = account && circuitHost(message, account);
  await laneGate.leaveAgain({ accountId, messageId, attempt, queue, key: flowControl?.key, host });
}
