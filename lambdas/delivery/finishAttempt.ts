import { limitsOf, type Account } from '../account/account.ts';
import { beginningOf } from '../shared/bytes.ts';
import { accountCallbackAfter, type Outcome } from './outcome.ts';
import type { DestinationResponse } from '../destination/response.ts';
import type { Attempt, Message } from '../message/message.ts';
import { log } from '../aws/log.ts';
import { count } from '../aws/metrics.ts';
import { traceHeader } from '../aws/trace.ts';
import { isEnded, type MessageHistory, type RecordedAttempt } from '../message/history.ts';
import { recordAttempt } from '../message/messages.ts';
import { callbackIdsOf } from '../message/consequenceIds.ts';
import { continueFrom, messagesToStore } from './continuations/continuations.ts';

export interface LoadedMessage {
  readonly history: MessageHistory;
  readonly account: Account;
  readonly body: Uint8Array;
}

interface AttemptResult {
  /** 0 for the first delivery. */
  readonly number: number;
  readonly startedAt: number;
  /** When the outcome was decided. */
  readonly recordedAt: number;
  readonly response: DestinationResponse;
  readonly outcome: Outcome;
  /** Whether the attempt had been left open. */
  readonly wasOpen?: true | undefined;
}

/** A cancelled message was already counted when it was cancelled. */
const countedAs: Readonly<Record<Attempt['state'], Parameters<typeof count>[0] | undefined>> = {
  DELIVERED: 'Delivered',
  RETRY: 'Retried',
  FAILED: 'Failed',
  CANCELED: undefined,
};

/**
 * Stores the messages that contain the whole response, records the attempt, and continues from the record.
 *
 * @param storeMessage calls the given function, or skips the message
 * @param release called after the attempt is recorded
 * @throws if the attempt's job must be retried
 */
export async function finishAttempt(
  { history, account, body }: LoadedMessage,
  result: AttemptResult,
  {
    storeMessage = (store) => store(),
    release,
  }: {
    readonly storeMessage?: (store: () => Promise<void>) => Promise<void>;
    readonly release?: () => Promise<void>;
  } = {},
): Promise<void> {
  const { message } = history;
  const { response } = result;
  const outcome = await unlessCancelled(message, result.outcome);
  const accountCallback = await accountCallbackAfter(message, account, outcome.state, response);
  const attempt = attemptOf(account, { ...result, outcome }, accountCallback);
  const messages = messagesToStore({ history, account, attempt, body, response });
  await Promise.all(messages.map(storeMessage));

  const isFirst = await noteAttempt({ history, account }, attempt);
  if (!isFirst) {
    const { endSuperseded } = await import('./continuations/endSuperseded.ts');
    await endSuperseded({ history, attempt });
    return;
  }
  const recorded = { history, account, attempt };
  await Promise.all([continueFrom(recorded), countCallbacks(recorded), release?.()]);
}

export function attemptOf(
  account: Account,
  result: Omit<AttemptResult, 'outcome'> & { readonly outcome: Pick<Attempt, 'state' | 'nextDeliveryAt'> },
  accountCallback: string | undefined,
): Attempt {
  const { number, startedAt, recordedAt, outcome, wasOpen, response } = result;
  const { status, error, headers } = response;
  return {
    number,
    startedAt,
    recordedAt,
    ...outcome,
    accountCallback,
    wasOpen,
    response: {
      status,
      error,
      headers,
      body: beginningOf(response.body, limitsOf(account).max_events_size),
    },
  };
}

/** @returns false if the attempt was recorded before */
export async function noteAttempt(
  { history, account }: Pick<LoadedMessage, 'history' | 'account'>,
  attempt: Attempt,
): Promise<boolean> {
  const { message } = history;
  const isFirst = await recordAttempt(message, attempt, limitsOf(account).max_delivered_answer_size);
  logAttempt(message, attempt, isFirst);
  if (!isFirst) return false;
  const counted = countedAs[attempt.state];
  if (counted !== undefined) count(counted);
  count('Callbacks', callbackIdsOf({ history, attempt }).length);
  return true;
}

export const hasCallbacks = (recorded: Parameters<typeof callbackIdsOf>[0]): boolean =>
  callbackIdsOf(recorded).length > 0;

export async function countCallbacks({ account, ...recorded }: RecordedAttempt): Promise<void> {
  const callbacks = callbackIdsOf(recorded).length;
  if (callbacks === 0) return;
  const messages = await import('./continuations/callbackMessages.ts');
  await messages.countCallbacks(account, callbacks);
}

/** Finds out whether a message was cancelled before its attempt failed. Only failures cost this read. */
export async function unlessCancelled(
  message: Message,
  outcome: Outcome,
): Promise<Outcome | { readonly state: 'CANCELED' }> {
  if (outcome.state === 'DELIVERED' || !(await isEnded(message))) return outcome;
  return { state: 'CANCELED' };
}

function logAttempt({ messageId, url }: Message, attempt: Attempt, isFirst: boolean): void {
  log[attempt.state === 'DELIVERED' ? 'info' : 'warn']('attempt', {
    messageId,
    retried: attempt.number,
    url,
    status: attempt.response.status,
    error: attempt.response.error,
    durationMs: attempt.recordedAt - attempt.startedAt,
    outcome: attempt.state,
    trace: traceHeader(),
    ...(isFirst ? {} : { repeated: true }),
  });
}
