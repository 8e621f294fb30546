import type { MadeAttempt, RecordedAttempt } from '../../message/history.ts';

export type StoreMessage = () => Promise<void>;

/**
 * A consequence of an attempt, such as its retry or its callbacks. Each function may be called several times for one attempt: a
 * worker may die, and two may make the same attempt.
 */
export interface Continuation {
  /**
   * Returns the messages that need the whole response, to be stored before the record, each separately. They have no job yet. A
   * repeated attempt with the same outcome overwrites them; another outcome makes others.
   */
  readonly store?: (made: MadeAttempt) => readonly StoreMessage[];
  /** Continues from the record: after it is written, and again each time the attempt's job is redelivered. */
  readonly release: (recorded: RecordedAttempt) => Promise<void>;
}
