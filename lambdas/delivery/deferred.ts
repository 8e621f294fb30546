/**
 * Attempts that end without an answer to their request. Most are deferred: a destination answers 202, and completes the attempt later by a request to the API
 * (`complete.ts`).
 *
 * A worker notes in a row that the attempt is open. The first to write a record decides the outcome: the request that completes
 * it, the job that ends its time, or a second worker that got another answer.
 */
import { isPull } from '../destination/pull.ts';
import { noAnswer } from '../destination/response.ts';
import type { CompletionTimeoutJob } from '../job/job.ts';
import { isEarly, sendJob } from '../job/send.ts';
import { ownerOf } from '../account/owner.ts';
import type { Acquired } from '../lane/acquireLanes.ts';
import { leaveAsMessage, leaveLanesAgain } from '../lane/leaveLanes.ts';
import { loadBody } from '../message/bodies.ts';
import { loadMessage, recordOf } from '../message/history.ts';
import type { Message, OpenAttempt } from '../message/message.ts';
import { changeOpen, noteOpen } from '../message/messages.ts';
import { rulesOf } from '../circuit/settings.ts';
import { now, secondMs } from '../shared/clock.ts';
import { formatDuration } from '../value/duration.ts';
import type { Extended } from '../wire/pullAnswers.ts';
import { namedBy, tooLate } from './complete.ts';
import { continueOnce } from './continuations/continueRecorded.ts';
import { finishAttempt, type LoadedMessage } from './finishAttempt.ts';
import { outcomeOf } from './outcome.ts';
import { putOffer } from './store/offers.ts';

type MessageId = Pick<Message, 'accountId' | 'messageId'>;

const timeoutOf = (
  { accountId, messageId }: MessageId,
  { number, until, isOffered }: OpenAttempt,
): CompletionTimeoutJob => ({
  kind: 'completionTimeout',
  accountId,
  messageId,
  attempt: number,
  until: isOffered === false ? until : undefined,
});

function endedBecause(
  { deferredMs = 0, url }: Message,
  { isOffered, startedAt, until }: OpenAttempt,
): string {
  const within = formatDuration(deferredMs);
  if (isOffered === true) return `No client took the message within ${within}.`;
  if (!isPull(url)) return `The destination answered 202 and did not complete the attempt within ${within}.`;
  return `The client that took the message did not complete it within ${formatDuration(until - startedAt)}.`;
}

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

/** Sends the job that ends an attempt's time. */
export const sendEnd = (message: MessageId, open: OpenAttempt): Promise<void> =>
  sendJob(timeoutOf(message, open), open.until);

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
  if (timeoutOf(message, open).until !== job.until) return;
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

/** Fails a message that has waited too long for its host, without a request or a retry. */
export async function failOverdue({ history, account, body }: LoadedMessage, number: number): Promise<void> {
  const time = now();
  const waitedSeconds = rulesOf(account.circuit).longestWaitMs / secondMs;
  const error = `The destination has been down, and this attempt has waited for more than ${waitedSeconds} s; no request was made.`;
  await finishAttempt(
    { history, account, body },
    {
      number,
      startedAt: time,
      recordedAt: time,
      response: noAnswer(error),
      outcome: { state: 'FAILED' },
    },
  );
}

/**
 * Gives an open attempt more time, or less, from now on.
 *
 * @param completion the token of the attempt
 * @throws HttpError 404 or 410
 */
export async function extend(completion: string, withinMs: number): Promise<Extended> {
  const { named, ...key } = await namedBy(completion);
  const history = await loadMessage(key);
  const open = history?.open;
  const until = now() + withinMs;
  if (
    history === undefined ||
    history.end !== undefined ||
    open === undefined ||
    open.number !== named?.number
  ) {
    throw tooLate(key.messageId, 'the attempt has ended');
  }
  const longer = { ...open, until, isOffered: false };
  await sendEnd(history.message, longer);
  if (!(await changeOpen(history.message, longer, 'open')))
    throw tooLate(key.messageId, 'the attempt has ended');
  return { messageId: key.messageId, completionDeadline: until };
}
