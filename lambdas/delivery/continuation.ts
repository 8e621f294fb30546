import type { Account } from '../account/account.ts';
import type { DestinationResponse } from './outcome.ts';
import type { Attempt } from '../message/message.ts';
import type { MessageHistory } from '../message/history.ts';

/** An attempt in the table, with what is needed to continue from it: a redelivery reads all of it again. */
export interface RecordedAttempt {
  /** The message's history as it was read before the attempt, or, after a redelivery, since. */
  readonly history: MessageHistory;
  readonly account: Account;
  readonly attempt: Attempt;
}

/** An attempt that was made and is about to be recorded. */
export interface MadeAttempt extends RecordedAttempt {
  /** The message's body. */
  readonly body: Uint8Array;
  /** The whole response; the record keeps a part of its body. */
  readonly response: DestinationResponse;
}

/** Stores one message. */
export type Store = () => Promise<void>;

/**
 * A consequence of an attempt, such as its retry or its callbacks. It acts at two moments, and each may come several times for
 * one attempt: a worker may die, and two may make the same attempt.
 */
export interface Continuation {
  /**
   * Before the record: the messages that need the whole response, each to be stored by itself. They have no work yet, so they
   * are not delivered. A repeated attempt that comes to the same end overwrites them; one that comes to another makes others.
   */
  readonly store?: (made: MadeAttempt) => readonly Store[];
  /** After the record, and again from the record whenever the attempt's work is redelivered. */
  readonly release: (recorded: RecordedAttempt) => Promise<void>;
}
