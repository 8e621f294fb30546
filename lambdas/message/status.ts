import { isFinal, type Attempt, type KeptResponse, type Message, type OpenAttempt } from './message.ts';
import type { MessageState } from '../wire/states.ts';

/** The part of a history that decides when an attempt is due. */
interface Timing {
  readonly message: Pick<Message, 'notBefore' | 'change'>;
  readonly attempts: readonly Pick<Attempt, 'number' | 'nextDeliveryAt'>[];
}

/** When an attempt is due. It never changes, so ids that are derived from it do not change either. */
export const dueTimeOf = ({ message, attempts }: Timing, number: number): number =>
  message.change?.dueAt[number] ??
  attempts.find((attempt) => attempt.number === number - 1)?.nextDeliveryAt ??
  message.notBefore;

export const nextAttemptOf = ({ attempts }: Pick<Timing, 'attempts'>): number => {
  const last = attempts.at(-1);
  return last === undefined ? 0 : last.number + 1;
};

export type AttemptOutline = Pick<Attempt, 'number' | 'state' | 'recordedAt' | 'nextDeliveryAt'> & {
  /** The reason is set only if it was asked for. */
  readonly response: Pick<KeptResponse, 'status'> & Partial<Pick<KeptResponse, 'error' | 'body'>>;
};

export interface StatusHistory {
  readonly message: Pick<Message, 'notBefore' | 'change'>;
  /** By number. */
  readonly attempts: readonly AttemptOutline[];
  readonly open: OpenAttempt | undefined;
  /** When the message was cancelled. */
  readonly endedAt: number | undefined;
}

interface Status {
  readonly state: MessageState;
  /**
   * The earliest time of the next attempt; undefined after the message's end, and while an attempt is open.
   */
  readonly nextDeliveryAt: number | undefined;
  /** Unix milliseconds; undefined while the message waits. */
  readonly endedAt: number | undefined;
}

/** A cancelled message may have been delivered by an attempt in flight. */
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
