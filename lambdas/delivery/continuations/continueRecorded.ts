/** Continues from the record of an attempt in another process than the one that made the attempt. */
import type { Account } from '../../account/account.ts';
import { ownerOf } from '../../account/owner.ts';
import type { AttemptJob } from '../../job/job.ts';
import { sendFollowUp } from '../../lane/acquireLanes.ts';
import { declineLanes, leaveLanesAgain } from '../../lane/leaveLanes.ts';
import { leaveAsCallback } from '../../lane/queueSlot.ts';
import { loadBody } from '../../message/bodies.ts';
import { callbackIdsOf } from '../../message/consequenceIds.ts';
import { recordOf, type MessageHistory, type RecordedAttempt } from '../../message/history.ts';
import { isOver, type Attempt } from '../../message/message.ts';
import { chooseJob } from './chosenJob.ts';
import { continueFrom, messagesToStore } from './continuations.ts';

/**
 * Ends a job whose attempt is already recorded. The process that recorded it may have died before it
 * continued.
 */
export async function continueRecorded(
  history: MessageHistory,
  recorded: Attempt,
  job: AttemptJob,
  isAgain: boolean,
): Promise<void> {
  const { isFollowUp, followUpId } = job;
  if (isFollowUp === true && followUpId === undefined) await continueAsFollowUp(history, recorded);
  else if (isAgain || recorded.isCompleted === true || recordOf(history, job.attempt + 1) === undefined) {
    await continueOnce(history, recorded, followUpId ?? job.kind, isAgain);
  }
  if (isOver(history)) await leaveAsCallback(history.message);
  await declineLanes(job, isOver(history) ? 'over' : 'goesOn');
}

/**
 * Stores the messages that contain the whole answer of a completion. The request that recorded it did not
 * store them.
 */
async function storeMessages(history: MessageHistory, account: Account, attempt: Attempt): Promise<void> {
  const { response, wholeBody } = attempt;
  if (callbackIdsOf({ history, attempt }).length === 0) return;
  const [body, whole] = await Promise.all([
    loadBody(history.message.messageId, history.body),
    wholeBody === undefined ? response.body : loadBody(wholeBody.id, wholeBody.stored),
  ]);
  const made = { history, account, attempt, body, response: { ...response, body: whole } };
  await Promise.all(messagesToStore(made).map((store) => store()));
}

/** Continues again from a record, because the process that made it may have died. */
export const continueAgain = (history: MessageHistory, attempt: Attempt): Promise<void> =>
  continueAs(history, attempt, {});

/** Continues from a record in case the job that should have done so did not. */
async function continueAsFollowUp(history: MessageHistory, attempt: Attempt): Promise<void> {
  const isFirst =
    attempt.isCompleted === true &&
    (await chooseJob(history.message, attempt.number, 'followUp')) === 'first';
  await continueAs(history, attempt, isFirst ? {} : { isFollowUp: true });
}

/**
 * Continues from a record, but only in one of several jobs that may be sent for a completion.
 *
 * @param by the name of the job
 * @param isAgain whether the job was received before
 */
export async function continueOnce(
  history: MessageHistory,
  attempt: Attempt,
  by: string,
  isAgain: boolean,
): Promise<void> {
  const chosen =
    attempt.isCompleted === true ? await chooseJob(history.message, attempt.number, by) : 'again';
  if (chosen === 'other') return;
  if (chosen === 'first' || isAgain) await continueAgain(history, attempt);
  // SQS may have delivered this job twice. Then the other worker is about to continue, or relies on a
  // redelivery.
  else await sendFollowUp(history.message, attempt.number);
}

async function continueAs(
  history: MessageHistory,
  attempt: Attempt,
  as: Pick<RecordedAttempt, 'isFollowUp'>,
): Promise<void> {
  const account = await ownerOf(history.message);
  if (account === undefined) return;
  if (attempt.isCompleted === true) await storeMessages(history, account, attempt);
  await Promise.all([
    continueFrom({ history, account, attempt, ...as }),
    leaveLanesAgain(history.message, attempt.number, account),
  ]);
}
