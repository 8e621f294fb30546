/**
 * Deferred completion in the workers: a destination answers 202, or a client takes the message (`pulled.ts`), and completes the
 * attempt later by a request to the API (`complete.ts`).
 *
 * A worker notes in a row that the attempt is open. The first to write a record decides the outcome: the request that completes
 * it, the job that ends its time, or a second worker that got another answer.
 */
import { noAnswer } from '../destination/response.ts';
import type { CompletionTimeoutJob } from '../job/job.ts';
import { endJobOf, sendEnd } from '../job/openAttempt.ts';
import { isEarly, sendJob } from '../job/send.ts';
import { ownerOf } from '../account/owner.ts';
import type { Acquired } from '../lane/acquireLanes.ts';
import { leaveAsMessage, leaveLanesAgain } from '../lane/leaveLanes.ts';
import { loadBody } from '../message/bodies.ts';
import { loadMessage, recordOf } from '../message/history.ts';
import type { Message, OpenAttempt } from '../message/message.ts';
import { noteOpen } from '../message/messages.ts';
import { now } from '../shared/clock.ts';
import { continueOnce } from './continuations/continueRecorded.ts';
import { finishAttempt, type LoadedMessage } from './finishAttempt.ts';
import { outcomeOf } from './outcome.ts';
import { endedBecause } from './rules/deferral.ts';
import { putOffer } from './store/offers.ts';

/** Leaves an attempt open after a 202. It keeps the slots of its queue and its key. */
export async function leaveOpen(
  { history, account }: Pick<LoadedMessage, 'history' | 'account'>,
  open: OpenAttempt,
  acquired: Acquired,
): Promise<void> {
  const { message } = history;
  await noteOpen(message, open, now());
  await sendEnd(message, open);
  await acquired.keep(open.until);
  // It may have been completed or cancelled before its slot was kept.
  const latest = await loadMessage(message);
  if (latest === undefined) return;
  if (latest.end !== undefined) await leaveAsMessage(message, false);
  if (latest.end !== undefined || recordOf(latest, open.number) !== undefined) {
    await leaveLanesAgain(message, open.number, account);
  }
}

/** Offers an attempt to clients (`pulled.ts`). It keeps the slots of its queue and its key. */
export async function offer(
  loaded: Pick<LoadedMessage, 'history' | 'account'>,
  number: number,
  acquired: Acquired,
): Promise<void> {
  const { message } = loaded.history;
  const startedAt = now();
  const open = { number, startedAt, until: startedAt + (message.deferredMs ?? 0), isOffered: true };
  await leaveOpen(loaded, open, acquired);
  await putOffer(message, open);
}

/** Ends the job of an open attempt. The worker that left it open may have died before it sent the job for its end. */
export async function stayOpen(message: Message, open: OpenAttempt): Promise<void> {
  await sendEnd(message, open);
  if (open.isOffered === true) await putOffer(message, open);
}

/**
 * Fails an open attempt whose time is over.
 *
 * @param isAgain whether the job was received before
 * @throws if the job must be retried
 */
export async function timeOut(job: CompletionTimeoutJob, isAgain: boolean): Promise<void> {
  const history = await loadMessage(job);
  if (history === undefined) return;
  const { message, open } = history;
  const recorded = recordOf(history, job.attempt);
  if (recorded !== undefined) {
    // The request that recorded it may have died before it sent a job.
    await continueOnce(history, recorded, job.kind, isAgain);
    return;
  }
  // Without the row, the attempt's job repeats it.
  if (open?.number !== job.attempt || history.end !== undefined) return;
  // Each later end has a job.
  if (endJobOf(message, open).until !== job.until) return;
  if (isEarly(open.until)) {
    await sendJob(job, open.until);
    return;
  }
  const account = await ownerOf(message);
  if (account === undefined) return;
  const response = noAnswer(endedBecause(message, open));
  const { number, startedAt } = open;
  const recordedAt = now();
  const outcome = await outcomeOf(message, account, number, response, recordedAt);
  const loaded = { history, account, body: await loadBody(message.messageId, history.body) };
  await finishAttempt(
    loaded,
    { number, startedAt, recordedAt, response, outcome, wasOpen: true },
    { release: () => leaveLanesAgain(message, number, account) },
  );
}
