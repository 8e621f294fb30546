/**
 * Ids of the messages and dead letters that an attempt causes. They are derived from the attempt, so that a repeated attempt
 * makes no others.
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
 * Each attempt goes to the callback; a failed last one also to the failure callback, or the account's. A call of a workflow's
 * step reports only its last attempt.
 */
export function callbacksOf({ history, attempt }: Followed): Callbacks {
  const { message } = history;
  if (attempt.state === 'CANCELED') return [];
  // The endpoint waits for the call's end.
  if (message.workflow?.role === 'call' && !isFinal(attempt)) return [];
  // A second worker of the attempt must not overwrite the recorded callback.
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
