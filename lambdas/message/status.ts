/** The status of a message, as its history tells it. */
import { isFinal, type Attempt, type KeptResponse, type Message, type OpenAttempt } from './message.ts';
import type { MessageState } from '../wire/states.ts';

/** The part of a history that tells when an attempt is due. */
interface Timing {
  readonly message: Pick<Message, 'notBefore' | 'change'>;
  readonly attempts: readonly Pick<Attempt, 'number' | 'nextDeliveryAt'>[];
}

/** Finds when an attempt is due, Unix milliseconds. Ids that are derived from this time are the same for each repetition. */
export const dueTimeOf = ({ message, attempts }: Timing, number: number): number =>
  message.change?.dueAt[number] ??
  attempts.find((attempt) => attempt.number === number - 1)?.nextDeliveryAt ??
  message.notBefore;

/** The number of a message's next attempt. */
export const nextAttemptOf = ({ attempts }: Pick<Timing, 'attempts'>): number => {
  const last = attempts.at(-1);
  return last === undefined ? 0 : last.number + 1;
};

/** The part of an attempt that tells its message's status. */
export type AttemptOutline = Pick<Attempt, 'number' | 'state' | 'recordedAt' | 'nextDeliveryAt'> & {
  readonly response: Pick<KeptResponse, 'status'>;
};

/** The part of a message's history that tells its status. */
export interface StatusHistory {
  readonly message: Pick<Message, 'notBefore' | 'change'>;
  /** By number. */
  readonly attempts: readonly AttemptOutline[];
  /** The attempt that is open, if any. */
  readonly open: OpenAttempt | undefined;
  /** When it was cancelled, in Unix milliseconds; undefined for a message that was not. */
  readonly endedAt: number | undefined;
}

export interface Status {
  readonly state: MessageState;
  /** Unix milliseconds of the next attempt, at the earliest; undefined once it has ended, and while an attempt is open. */
  readonly nextDeliveryAt: number | undefined;
  /** Unix milliseconds; undefined while it waits. */
  readonly endedAt: number | undefined;
}

/** Finds the status of an accepted message. An attempt that was in flight at its cancellation may have delivered it. */
export function statusOf({ message, attempts, open, endedAt: cancelledAt }: StatusHistory): Status {
  const last = attempts.at(-1);
  const final = attempts.find(isFinal);
  if (final !== undefined && final.state !== 'CANCELED') {
    return { state: final.state, nextDeliveryAt: undefined, endedAt: final.recordedAt };
  }
  const endedAt = cancelledAt ?? final?.recordedAt;
  if (endedAt !== undefined) return { state: 'CANCELED', nextDeliveryAt: undefined, endedAt };
  if (open !== undefined) return { state: 'ACTIVE', nextDeliveryAt: undefined, endedAt: undefined };
  return {
    state: last === undefined ? 'CREATED' : 'RETRY',
    nextDeliveryAt: dueTimeOf({ message, attempts }, nextAttemptOf({ attempts })),
    endedAt: undefined,
  };
}
