/**
 * Delivery of one message, one attempt at a time.
 *
 * An attempt passes these states: it acquires its lanes; it is made; the messages that need its whole response are stored; it
 * is recorded; its consequences are released (the next attempt, callbacks, the dead letter, the next in its lanes). The record
 * is a conditional write. If a worker dies, its redelivered job makes the attempt again, or continues from the record. Nothing
 * is lost, but a request may be made twice.
 */
import { attemptJob, type AttemptJob } from '../job/job.ts';
import { isEarly, sendJob } from '../job/send.ts';
import { acquireLanes, type Acquired } from '../lane/acquireLanes.ts';
import { declineLanes, leaveAsMessage, leaveEndedLanes, leaveLanesAgain } from '../lane/leaveLanes.ts';
import { loadBody } from '../message/bodies.ts';
import { recordOf, type MessageHistory } from '../message/history.ts';
import { dueTimeOf } from '../message/status.ts';
import { isAhead, now, secondMs } from '../shared/clock.ts';
import { continueRecorded } from './continuations/continueRecorded.ts';
import type { LoadedMessage } from './finishAttempt.ts';
import { makeAttempt } from './makeAttempt.ts';
import {
  endOfQuiet,
  isReplaced,
  loadMessageOf,
  servedOwner,
  waitForChange,
  waitForRow,
} from './earlyJobs.ts';
import { dropMessage, readyToSend, type ReadyMessage } from './readyMessage.ts';

/**
 * Makes an attempt that is due and was not made yet.
 *
 * @param isAgain whether the job was delivered before: the attempt may be in flight, or in a waiting line
 * @throws if the job must be retried, because nothing was decided yet
 */
export async function deliver(job: AttemptJob, isAgain: boolean): Promise<void> {
  const history = await loadMessageOf(job);
  if (history === undefined) {
    await waitForRow(job);
    return;
  }
  const recorded = recordOf(history, job.attempt);
  if (recorded !== undefined) {
    await continueRecorded(history, recorded, job, isAgain);
    return;
  }
  if (job.isFollowUp === true) return;
  if (history.end !== undefined) {
    await leaveEndedLanes(history.message, job, isAgain);
    return;
  }

  if (history.open?.number === job.attempt) {
    const { stayOpen } = await import('./deferred.ts');
    await stayOpen(history.message, history.open);
    return;
  }

  // A job from a lane is not compared: if a message in a lane's line is changed, no job is sent, unless the
  // message is moved to a later time.
  if (job.admittedTo === undefined && job.change !== history.message.change?.id) {
    await waitForChange(job);
    return;
  }

  if (isReplaced(history, job)) return;

  const dueAt = dueTimeOf(history, job.attempt);
  // If the message seems to be made in the future, the clock has stepped back since. Its job was also sent
  // before that, so it is due.
  const isBehind = isAhead(history.attempts.at(-1)?.recordedAt ?? history.message.createdAt, now());
  const isMoved = history.message.change !== undefined && !isBehind;
  if (job.admittedTo !== undefined && isMoved && isAhead(dueAt, now())) {
    // The message was moved while it was in the line, and its next job was sent.
    await declineLanes(job, 'over');
    if (job.admittedTo.lane === 'account') await leaveLanesAgain(history.message, job.attempt);
    return;
  }
  if (isEarly(dueAt) && !isBehind) {
    // The job keeps its grant. The clock of the worker that granted it may be ahead.
    await sendAgain(history, job, dueAt);
    return;
  }
  const putOffUntil = await endOfQuiet(history, job);
  if (putOffUntil !== undefined) {
    await sendAgain(history, job, putOffUntil);
    return;
  }
  const account = await servedOwner(history, job, isAgain);
  if (account === undefined) return;
  const body = await loadBody(job.messageId, history.body);
  const acquired = await acquireLanes(history, account, job, isAgain);
  if (acquired !== undefined) await sendOrDrop({ history, account, body }, job, isAgain, acquired);
}

/**
 * Makes an attempt that has its lanes. Its message is prepared only now, so that it takes no memory while it
 * waits, and because its run may have ended.
 */
async function sendOrDrop(
  loaded: LoadedMessage,
  job: AttemptJob,
  isAgain: boolean,
  acquired: Acquired | 'overdue',
): Promise<void> {
  const { history, account } = loaded;
  let ready: Awaited<ReturnType<typeof readyToSend>>;
  try {
    ready = await readyToSend(loaded);
    if (typeof ready === 'object') {
      await attemptOrFail(ready, job, acquired);
      return;
    }
    if (ready === undefined) await dropMessage(history, account);
  } finally {
    if (acquired !== 'overdue') await acquired.giveBack();
  }
  if (ready === undefined) await leaveAsMessage(history.message, isAgain);
  // The attempt has lost its grant, and must acquire its lanes again.
  else await sendAgain(history, { ...job, admittedTo: undefined }, now() + secondMs);
}

async function attemptOrFail(
  ready: ReadyMessage,
  job: AttemptJob,
  acquired: Acquired | 'overdue',
): Promise<void> {
  try {
    if (acquired === 'overdue') {
      const { failOverdue } = await import('./giveUp.ts');
      await failOverdue(ready, job.attempt);
    } else await makeAttempt(ready, job, acquired);
  } finally {
    ready.request.release();
  }
}

const sendAgain = ({ message }: MessageHistory, job: AttemptJob, dueAt: number): Promise<void> =>
  sendJob({ ...job, ...attemptJob(message, job.attempt), looks: undefined }, dueAt);
