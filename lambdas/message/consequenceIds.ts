/**
 * The ids of the messages and dead letters that follow from an attempt. They are derived from the attempt, so that each is made
 * once, however often the attempt is repeated, and is found from the message.
 */
import { derivedId } from '../shared/ids.ts';
import { isFinal, type Attempt } from './message.ts';
import { type MessageHistory } from './history.ts';
import { dueTimeOf } from './status.ts';

/** The id of the dead letter that an attempt would leave. */
export const dlqIdOf = (history: MessageHistory, attempt: number): string =>
  derivedId(
    'dlq',
    dueTimeOf(history, attempt),
    `${history.message.messageId}/${attempt}`,
    history.message.messageId,
  );

/** An attempt, and its message's history before or after it. */
interface Followed {
  readonly history: MessageHistory;
  readonly attempt: Attempt;
}

/** The callbacks that an attempt gives rise to, by the setting that asks for them. */
export type Callbacks = readonly {
  readonly kind: 'callback' | 'failureCallback' | 'accountCallback';
  readonly messageId: string;
}[];

/**
 * Finds the callbacks of an attempt. Each attempt is told to the callback, and a last one that failed to the failure callback too,
 * or to that of the account.
 * For a call that a workflow's step makes, only the last attempt is told.
 */
export function callbacksOf({ history, attempt }: Followed): Callbacks {
  const { message } = history;
  if (attempt.state === 'CANCELED') return [];
  // The endpoint that made a call waits for the end of it.
  if (message.workflow?.role === 'call' && !isFinal(attempt)) return [];
  // Where two workers make the same attempt, the second must not overwrite the callback that the first has recorded.
  const outcome = attempt.callbacksByOutcome === true ? `/${attempt.state} ${attempt.response.status}` : '';
  const idFor = (kind: string): string =>
    derivedId(
      'msg',
      dueTimeOf(history, attempt.number),
      `${message.messageId}/${attempt.number}/${kind}${outcome}`,
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
