/**
 * Ids of the messages and dead letters that an attempt causes. They are derived from the attempt, so that a
 * repeated attempt makes the same.
 */
import { derivedId } from '../shared/ids.ts';
import { isFinal, type Attempt } from './message.ts';
import { type MessageHistory } from './history.ts';
import { dueTimeOf } from './status.ts';

export const dlqIdOf = (history: MessageHistory, attempt: number): string =>
  derivedId(
    'dlq',
    dueTimeOf(history, attempt),
    `${history.message.messageId}/${attempt}`,
    history.message.messageId,
  );

interface Followed {
  readonly history: MessageHistory;
  readonly attempt: Attempt;
}

export type Callbacks = readonly {
  readonly kind: 'callback' | 'failureCallback' | 'accountCallback';
  readonly messageId: string;
}[];

/**
 * Each attempt is reported to the callback. If the last one fails, it is also reported to the failure
 * callback, or the account's. A call of a workflow's step reports only its last attempt.
 */
export function callbacksOf({ history, attempt }: Followed): Callbacks {
  const { message } = history;
  if (attempt.state === 'CANCELED') return [];
  // The endpoint waits for the call's last answer.
  if (message.workflow?.role === 'call' && !isFinal(attempt)) return [];
  // The outcome is part of the id. Otherwise a second worker of the attempt could overwrite the recorded
  // callback.
  const outcome = `${attempt.state} ${attempt.response.status}`;
  const idFor = (kind: string): string =>
    derivedId(
      'msg',
      dueTimeOf(history, attempt.number),
      `${message.messageId}/${attempt.number}/${kind}/${outcome}`,
      message.messageId,
    );
  return [
    ...(message.callback === undefined ? [] : [{ kind: 'callback' as const, messageId: idFor('callback') }]),
    ...(message.failureCallback === undefined || attempt.state !== 'FAILED'
      ? []
      : [{ kind: 'failureCallback' as const, messageId: idFor('failure-callback') }]),
    ...(attempt.accountCallback === undefined
      ? []
      : [{ kind: 'accountCallback' as const, messageId: idFor('account-callback') }]),
  ];
}

export const callbackIdsOf = (followed: Followed): readonly string[] =>
  callbacksOf(followed).map(({ messageId }) => messageId);
