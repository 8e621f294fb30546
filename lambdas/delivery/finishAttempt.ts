import { limitsOf, type Account } from '../account/account.ts';
import { beginningOf } from '../shared/bytes.ts';
import { accountCallbackAfter, type Outcome } from './outcome.ts';
import type { DestinationResponse } from '../destination/response.ts';
import type { Attempt, Message } from '../message/message.ts';
import { TransientError } from '../error/transientError.ts';
import { log, urlForLog } from '../aws/log.ts';
import { count } from '../aws/metrics.ts';
import { traceHeader } from '../aws/trace.ts';
import { isEnded, type MessageHistory } from '../message/history.ts';
import { recordAttempt } from '../message/messages.ts';
import { callbackIdsOf } from '../message/consequenceIds.ts';
import { continueFrom, messagesToStore } from './continuations/continuations.ts';

/** A message with its account and its body, which its attempt needs. */
export interface LoadedMessage {
  readonly history: MessageHistory;
  readonly account: Account;
  /** The message's body. */
  readonly body: Uint8Array;
}

/** The response to an attempt, and the outcome that was decided from it. */
export interface AttemptResult {
  /** 0 for the first delivery. */
  readonly number: number;
  /** Unix milliseconds. */
  readonly startedAt: number;
  /** Unix milliseconds at which the outcome was decided. */
  readonly recordedAt: number;
  readonly response: DestinationResponse;
  readonly outcome: Outcome;
}

/** The metric that counts a record. A message that was cancelled is counted at its cancellation. */
const countedAs: Readonly<Record<Attempt['state'], Parameters<typeof count>[0] | undefined>> = {
  DELIVERED: 'Delivered',
  RETRY: 'Retried',
  FAILED: 'Failed',
  CANCELED: undefined,
};

/**
 * Stores the messages that need the whole response, records the attempt, and continues from the record.
 *
 * @param storeMessage stores a message with the function that it gets, or goes without
 * @param release called once the attempt is recorded, beside all else that follows
 * @throws when the attempt's job must be done again
 */
export async function finishAttempt(
  { history, account, body }: LoadedMessage,
  { number, startedAt, recordedAt, response, outcome: decided }: AttemptResult,
  {
    storeMessage = (store) => store(),
    release,
  }: {
    readonly storeMessage?: (store: () => Promise<void>) => Promise<void>;
    readonly release?: () => Promise<void>;
  } = {},
): Promise<void> {
  const { message } = history;
  const outcome = await unlessCancelled(message, decided);
  const accountCallback = await accountCallbackAfter(message, account, outcome.state, response);
  const keptBody = beginningOf(response.body, limitsOf(account).max_events_size);
  const attempt: Attempt = {
    number,
    startedAt,
    recordedAt,
    ...outcome,
    callbacksByOutcome: [message.callback, message.failureCallback, accountCallback].some(
      (asked) => asked !== undefined,
    )
      ? true
      : undefined,
    accountCallback,
    response: { status: response.status, error: response.error, headers: response.headers, body: keptBody },
  };
  const messages = messagesToStore({ history, account, attempt, body, response });
  await Promise.all(messages.map(storeMessage));

  const isFirst = await recordAttempt(message, attempt);
  logAttempt(message, attempt, isFirst);
  // Another worker has recorded it and continues. Should that one die before it does, the redelivery of this job continues.
  if (!isFirst) throw new TransientError('The attempt was recorded by another worker.');
  const callbacks = callbackIdsOf({ history, attempt }).length;
  const counted = countedAs[attempt.state];
  if (counted !== undefined) count(counted);
  count('Callbacks', callbacks);
  await Promise.all([
    continueFrom({ history, account, attempt }),
    countCallbacks(account, callbacks),
    release?.(),
  ]);
}

/** Counts the callbacks of an attempt. Few messages have any, and what counts them is loaded when the first comes. */
async function countCallbacks(account: Account, callbacks: number): Promise<void> {
  if (callbacks === 0) return;
  const messages = await import('./continuations/callbackMessages.ts');
  await messages.countCallbacks(account, callbacks);
}

/** Makes an attempt that failed after its message was cancelled an end, which nothing follows. Only failures cost this read. */
async function unlessCancelled(
  message: Message,
  outcome: Outcome,
): Promise<Outcome | { readonly state: 'CANCELED' }> {
  if (outcome.state === 'DELIVERED' || !(await isEnded(message))) return outcome;
  return { state: 'CANCELED' };
}

function logAttempt({ messageId, url }: Message, attempt: Attempt, isFirst: boolean): void {
  log[attempt.state === 'DELIVERED' ? 'info' : 'warn']('attempt', {
    messageId,
    attempt: attempt.number,
    url: urlForLog(url),
    status: attempt.response.status,
    error: attempt.response.error,
    durationMs: attempt.recordedAt - attempt.startedAt,
    outcome: attempt.state,
    trace: traceHeader(),
    ...(isFirst ? {} : { repeated: true }),
  });
}
