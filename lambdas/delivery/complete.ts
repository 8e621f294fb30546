/**
 * Deferred completion in the API: a request completes an open attempt (`deferred.ts`).
 *
 * The request only records the completion, and sends a job that continues from the record. If its process
 * dies in between, the client repeats the request; or the attempt times out, and the job for that continues.
 * If several jobs are sent, only the first that runs continues.
 */
import { limitsOf, type Account } from '../account/account.ts';
import { readCompletionToken } from '../account/completionToken.ts';
import { ownerOf } from '../account/owner.ts';
import type { DestinationResponse } from '../destination/response.ts';
import { HttpError, notFound, quote } from '../error/httpError.ts';
import { checkBodySize, loadBody, storeBody } from '../message/bodies.ts';
import { loadMessage, recordOf, type MessageHistory } from '../message/history.ts';
import type { Attempt, Message, OpenAttempt } from '../message/message.ts';
import { now } from '../shared/clock.ts';
import { limitHook } from '../usage/rateLimit.ts';
import { tooLargeForStep } from './callbackBody.ts';
import { isJobChosen, sendContinuation } from './continuations/chosenJob.ts';
import { attemptOf, countCallbacks, hasCallbacks, noteAttempt, unlessCancelled } from './finishAttempt.ts';
import { accountCallbackOf, outcomeOf } from './outcome.ts';

export interface Completing extends Pick<Message, 'accountId' | 'messageId'> {
  /** The attempt in the completion's URL; undefined for the open one. */
  readonly named?: Pick<OpenAttempt, 'number' | 'startedAt'>;
  /** The token that completes it, and why. */
  readonly note?: Pick<Attempt, 'completedBy' | 'comment'>;
}

/** Finds the attempt that a completion's URL names. A refusal does not reveal whether the message exists. */
export async function namedBy(token: string): Promise<Completing> {
  const target = await readCompletionToken(token);
  if (target === undefined)
    throw notFound('completion_not_found', 'There is no attempt with this completion URL.');
  const { accountId, messageId, attempt, startedAt } = target;
  return { accountId, messageId, named: { number: attempt, startedAt } };
}

export const tooLate = (messageId: string, why: string): HttpError =>
  new HttpError(
    410,
    'completion_too_late',
    `The completion of the message ${quote(messageId)} is too late: ${why}.`,
  );

export const notAwaited = (messageId: string): HttpError =>
  new HttpError(
    409,
    'completion_not_awaited',
    `The message ${quote(messageId)} waits for no completion: it was published without Svc-Deferred, or its destination has not answered 202.`,
  );

/**
 * Completes an attempt. Its answer is recorded, called back, retried and dead-lettered like any other. A
 * second completion changes nothing.
 *
 * @returns the attempt as the first completion recorded it
 * @throws HttpError 404 or 410 if the message does not exist; 409 if no attempt is open; 410 if the attempt
 * has ended otherwise; 413 above the account's `max_message_size`; 429 if its destinations send too many in a
 * second
 */
export async function completeAttempt(completing: Completing, answer: DestinationResponse): Promise<Attempt> {
  const { messageId, named } = completing;
  const history = await loadMessage(completing);
  if (history === undefined) {
    if (named !== undefined) throw tooLate(messageId, 'it is no longer kept');
    throw notFound('message_not_found', `There is no message ${quote(messageId)}, or it is no longer kept.`);
  }
  const { message } = history;
  const account = await ownerOf(message);
  if (account === undefined) throw tooLate(messageId, 'its account was deleted');
  // An authenticated request has already been counted.
  if (named !== undefined) await limitHook(account, answer.body.length);
  const started = named === undefined || history.open?.number === named.number ? startOf(history) : named;
  const recorded = recordOf(history, started.number);
  if (recorded !== undefined) {
    if (recorded.isCompleted !== true) throw tooLate(messageId, endOf(recorded));
    if (!(await isJobChosen(message, recorded.number))) await sendContinuation(message, recorded.number);
    return recorded;
  }
  if (history.end !== undefined) throw tooLate(messageId, 'it was cancelled');
  checkBodySize(account, answer.body);

  const attempt = { ...(await recordFor(history, account, started, answer)), ...completing.note };
  // The attempt was already recorded: by another completion, by its timeout, or by a worker with another
  // answer.
  if (!(await noteAttempt({ history, account }, attempt))) return completeAttempt(completing, answer);
  await Promise.all([
    sendContinuation(message, attempt.number),
    countCallbacks({ history, account, attempt }),
  ]);
  return attempt;
}

/** A body that is too long for the record is also stored separately, for the callbacks. */
async function recordFor(
  history: MessageHistory,
  account: Account,
  { number, startedAt }: Pick<OpenAttempt, 'number' | 'startedAt'>,
  answer: DestinationResponse,
): Promise<Attempt> {
  const { message } = history;
  const recordedAt = now();
  const error = await errorOf(history, account, answer);
  const response = { ...answer, error };
  const decided =
    error === undefined
      ? await outcomeOf(message, account, number, response, recordedAt)
      : { state: 'FAILED' as const };
  const outcome = await unlessCancelled(message, decided);
  const accountCallback = outcome.state === 'FAILED' ? accountCallbackOf(message, account) : undefined;
  // A destination may complete an attempt before its 202 arrives. The attempt is not open then.
  const wasOpen = history.open?.number === number ? (true as const) : undefined;
  const result = { number, startedAt, recordedAt, response, outcome, wasOpen };
  const attempt: Attempt = { ...attemptOf(account, result, accountCallback), isCompleted: true };
  const isWhole = attempt.response.body.length === answer.body.length;
  if (isWhole || !hasCallbacks({ history, attempt })) return attempt;
  // Two completions may be stored at once, so each has a separate body.
  const id = `${message.messageId}~${crypto.randomUUID()}`;
  const { accountId, expiresAt } = message;
  return {
    ...attempt,
    wholeBody: {
      id,
      stored: await storeBody({ accountId, messageId: id, expiresAt }, answer.body, recordedAt),
    },
  };
}

/** Finds an error in the answer to a call of a run. */
async function errorOf(
  { message, body }: MessageHistory,
  account: Account,
  response: DestinationResponse,
): Promise<string | undefined> {
  if (message.workflow?.role !== 'call') return undefined;
  const details = {
    message,
    body: await loadBody(message.messageId, body),
    response,
    retried: message.maxRetries,
  };
  return tooLargeForStep(details, limitsOf(account).max_message_size);
}

/** Finds the open attempt, or the last completed one. */
function startOf({
  message: { messageId },
  open,
  attempts,
  end,
}: MessageHistory): Pick<OpenAttempt, 'number' | 'startedAt'> {
  if (open !== undefined) return open;
  const last = attempts.at(-1);
  if (last?.isCompleted === true) return last;
  if (last?.wasOpen === true) throw tooLate(messageId, endOf(last));
  if (end !== undefined) throw tooLate(messageId, 'it was cancelled');
  throw notAwaited(messageId);
}

const endOf = ({ number, response: { status, error } }: Attempt): string =>
  `its attempt ${number + 1} has ended with ${error === undefined ? `the status ${status}` : `the error "${error}"`}`;
