import type { MadeAttempt, RecordedAttempt } from '../../message/history.ts';

/** Stores one message. */
export type StoreMessage = () => Promise<void>;

/**
 * A consequence of an attempt, such as its retry or its callbacks. It acts at two moments, and each may come several times for
 * one attempt: a worker may die, and two may make the same attempt.
 */
export interface Continuation {
  /**
   * Gives what is stored before the record: the messages that need the whole response, each to be stored by itself. They have no job yet, so they
   * are not delivered. A repeated attempt with the same outcome overwrites them; one with another outcome makes others.
   */
  readonly store?: (made: MadeAttempt) => readonly StoreMessage[];
  /** Does what follows from the record: after it is written, and again whenever the attempt's job is redelivered. */
  readonly release: (recorded: RecordedAttempt) => Promise<void>;
}
