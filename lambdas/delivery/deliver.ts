/**
 * Delivery of one message, one attempt at a time.
 *
 * An attempt passes its lanes, is made, the messages that need its whole response are stored, it is recorded, and what follows
 * from the record is released: the next attempt, callbacks, the dead letter, the next in its lanes. The record is a conditional
 * write, and all that comes after it can be done again from it. So whenever a worker dies, its work is redelivered and finds
 * either no record, and makes the attempt again, or a record, and continues from it. Nothing is lost; the request may be made
 * twice.
 */
import { setTimeout } from 'node:timers/promises';
import { isServed, limitsOf, type Account } from '../account/account.ts';
import { verdictOf } from '../circuit/verdict.ts';
import { now, secondMs } from '../shared/clock.ts';
import { outcomeOf, type Outcome } from './outcome.ts';
import { timeOfId } from '../shared/ids.ts';
import { isOver, type Message } from '../message/message.ts';
import { TransientError } from '../error/transientError.ts';
import { attemptJob, type AttemptJob } from '../job/job.ts';
import { log } from '../aws/log.ts';
import { count, measure } from '../aws/metrics.ts';
import { loadBody } from '../message/bodies.ts';
import { loadMessage, type MessageHistory, dueTimeOf, recordOf } from '../message/history.ts';
import { endMessage } from '../message/messages.ts';
import { sendJob } from '../job/send.ts';
import { kindOf, type OpenedDelivery } from '../message/kinds.ts';
import { callDestination } from './callDestination.ts';
import { continueAgain } from './continuations/continuations.ts';
import { finishAttempt, type LoadedMessage } from './finishAttempt.ts';
import {
  declineLanes,
  leaveEndedLanes,
  acquireLanes,
  waitForAccount,
  type Acquired,
} from '../lane/lanesOfAttempt.ts';
import { leaveAsCallback } from '../lane/queueSlot.ts';
import { ownerOf } from '../account/owner.ts';

/**
 * Makes an attempt that is due and was not made yet.
 *
 * @param isAgain whether the work has been handed out before: the attempt may be under way, or in a waiting line
 * @throws when the work must be done again: nothing was decided yet
 */
export async function deliver(work: AttemptJob, isAgain: boolean): Promise<void> {
  const history = (await loadMessage(work)) ?? (await loadSoon(work));
  if (history === undefined) {
    await waitForRow(work);
    return;
  }
  const recorded = recordOf(history, work.attempt);
  if (recorded !== undefined) {
    const continues = isAgain || work.isFollowUp === true;
    if (continues) await continueAgain(history, recorded);
    else if (isOver(history)) await leaveAsCallback(history.message);
    await declineLanes(work, isOver(history) ? 'over' : 'goesOn');
    // SQS may have handed out one message twice. The worker that recorded the attempt is about to continue, or has failed to and
    // counts on the message to come back, which it would not, were it deleted for this one. A later record shows that it continued.
    if (!continues && recordOf(history, work.attempt + 1) === undefined) {
      throw new TransientError('The worker that recorded the attempt is not sure to have continued.');
    }
    return;
  }
  if (work.isFollowUp === true) return;
  if (history.end !== undefined) {
    await leaveEndedLanes(history.message, work, isAgain);
    return;
  }

  const dueAt = dueTimeOf(history, work.attempt);
  if (now() < dueAt) {
    // Its admission to a lane stays with it: a clock that is ahead of this one may have given it, and no other work has it.
    await sendJob({ ...work, ...attemptJob(history.message, work.attempt), looks: undefined }, dueAt);
    return;
  }
  const [account, body] = await Promise.all([
    ownerOf(history.message),
    loadBody(work.messageId, history.body),
  ]);
  if (account === undefined) return;
  if (!isServed(account)) {
    await waitForAccount(history, account, work, isAgain);
    return;
  }
  const ready = await readyToSend({ history, account, body });
  if (ready === undefined) {
    await dropped(history.message, account);
    if (await endMessage(history.message, 'CANCELED', now())) count('Cancelled');
    await leaveEndedLanes(history.message, work, isAgain);
    return;
  }
  if (ready === 'later') {
    await sendJob(
      { ...work, ...attemptJob(history.message, work.attempt), looks: undefined },
      now() + secondMs,
    );
    return;
  }
  try {
    const passage = await acquireLanes(history, account, work, isAgain);
    if (passage === 'overdue') {
      const { failOverdue } = await import('./failOverdue.ts');
      await failOverdue(ready, work.attempt);
    } else if (passage !== undefined) await makeAttempt(ready, work, passage);
  } finally {
    ready.request.release();
  }
}

/** Does what follows when a message is dropped, which its kind knows. */
async function dropped(message: Message, account: Account): Promise<void> {
  const own = await kindOf(message);
  await own?.kind.drop(message, own.part, account);
}

const nothing = (): undefined => undefined;

/** A message with the request that delivers it. */
interface ReadyMessage extends LoadedMessage {
  readonly request: OpenedDelivery;
}

/** @returns undefined for a message that its kind drops; `later` where there is no memory for its body now */
async function readyToSend(loaded: LoadedMessage): Promise<ReadyMessage | 'later' | undefined> {
  const { message } = loaded.history;
  const own = await kindOf(message);
  if (own === undefined) {
    return { ...loaded, request: { message, body: loaded.body, errorOf: nothing, release: nothing } };
  }
  const request = await own.kind.open(message, own.part, loaded.body);
  return typeof request === 'object' ? { ...loaded, request } : request;
}

const isYoung = ({ messageId, madeAt = timeOfId(messageId) }: AttemptJob): boolean =>
  now() - madeAt < rowTimeoutMs;

/** Work mostly overtakes its row by a few milliseconds. */
const soonMs = [10, 30, 90];

/** Looks a few times more for the message of young work. */
async function loadSoon(work: AttemptJob): Promise<MessageHistory | undefined> {
  if (!isYoung(work)) return undefined;
  for (const pauseMs of soonMs) {
    await setTimeout(pauseMs);
    const history = await loadMessage(work);
    if (history !== undefined) return history;
  }
  return undefined;
}

/** A request to the API ends after 29 s: a row that is not there by then will not come. */
const rowTimeoutMs = 30 * secondMs;

/**
 * Looks, a second apart, after which the row will not come, whatever the clock says. A machine that slept while the row was being
 * written wakes up with old work; then the write, which ends after 13 s, goes on.
 */
const leastLooks = 15;

/** Work may overtake the row that is written beside it: young work is sent again, the row of old work is lost. */
async function waitForRow(work: AttemptJob): Promise<void> {
  const looks = (work.looks ?? 0) + 1;
  if (isYoung(work) || looks < leastLooks) {
    await sendJob({ ...work, looks }, now() + secondMs);
    return;
  }
  await Promise.all([declineLanes(work, 'over'), leaveAsCallback(work)]);
  log.warn('An attempt of no message was dropped', { messageId: work.messageId });
}

/** Makes an attempt, and leaves its lanes once it is recorded. */
async function makeAttempt(
  { request, ...loaded }: ReadyMessage,
  { attempt: number, admittedTo }: AttemptJob,
  passage: Acquired,
): Promise<void> {
  const startedAt = now();
  try {
    const answer = await callDestination(request.message, number, loaded.account, request.body);
    request.release();
    const recordedAt = now();
    measureAttempt(loaded.history, number, { startedAt, recordedAt, hasWaited: admittedTo !== undefined });
    passage.report(verdictOf(answer, recordedAt));
    const error = request.errorOf(answer, limitsOf(loaded.account).max_message_size);
    const response = error === undefined ? answer : { ...answer, error };
    const outcome: Outcome =
      error === undefined
        ? await outcomeOf(request.message, number, response, recordedAt)
        : { state: 'FAILED' };
    const result = { number, startedAt, recordedAt, response, outcome };
    await finishAttempt(loaded, result, { release: passage.release });
  } finally {
    await passage.release();
  }
}

/** Measures an attempt that was made. One that is made again because its worker died is measured again. */
function measureAttempt(
  history: MessageHistory,
  number: number,
  times: { readonly startedAt: number; readonly recordedAt: number; readonly hasWaited: boolean },
): void {
  const { startedAt, recordedAt, hasWaited } = times;
  const { createdAt, notBefore } = history.message;
  if (number === 0 && notBefore <= createdAt) measure('FirstAttemptDelay', startedAt - createdAt);
  // Whoever waited for a slot is as late as its lane is busy, and not as the service is slow.
  if (!hasWaited) measure('Lateness', startedAt - dueTimeOf(history, number));
  measure('DestinationTime', recordedAt - startedAt);
}
