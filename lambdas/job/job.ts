import { shortTimeoutMs } from '../aws/resources.ts';
import { hostOf } from '../destination/place.ts';
import type { Message, QueueSlot } from '../message/message.ts';

/**
 * The kinds of lanes:
 *
 * - `queue`: a user's queue. Its slots belong to messages, until the message and its callbacks are over. Everything goes
 *   through its line.
 * - `key`: a flow-control key. Its slots belong to attempts.
 * - `account`: all deliveries of an account. Its slots belong to processes while there are plenty, otherwise to attempts.
 * - `circuit`: the attempts at one host while its circuit is open or attempts wait. Its slots belong to attempts; its name is
 *   the host.
 */
export const laneKinds = ['queue', 'key', 'account', 'circuit'] as const;

export type LaneKind = (typeof laneKinds)[number];

export interface AttemptJob {
  readonly kind: 'attempt';
  readonly accountId: string;
  readonly messageId: string;
  /** 0 for the first delivery. */
  readonly attempt: number;
  /** Long for slow answers. */
  readonly queue: DeliveryQueue;
  /** As in `hostOf`, if the sender knows it. */
  readonly host?: string | undefined;
  readonly admittedTo?: AdmittedTo | undefined;
  /**
   * When the job was made, Unix milliseconds, if its message is older: the row is written right after that, and may be missing.
   */
  readonly madeAt?: number | undefined;
  /** How often the job found no message. */
  readonly looks?: number | undefined;
  /**
   * Whether the job only continues from the attempt's record. It follows a dropped redelivered job, whose other worker may have
   * died.
   */
  readonly isFollowUp?: boolean | undefined;
  /** Names a follow-up job of a completion, of which only one may continue. */
  readonly followUpId?: string | undefined;
  /** The change of the message that it was sent for: see `publish/change.ts`. */
  readonly change?: string | undefined;
  /** The slot kept for a callback, whose row may be missing. */
  readonly slotOf?: QueueSlot | undefined;
}

export interface AdmittedTo {
  readonly lane: LaneKind;
  readonly name: string;
  /** Identifies the grant among those of the attempt. */
  readonly ticket: string;
  /** Unix milliseconds. */
  readonly sentAt: number;
}

export interface PumpJob {
  readonly kind: 'pump';
  readonly accountId: string;
  readonly lane: LaneKind;
  readonly name: string;
  /** Unix milliseconds. */
  readonly dueAt: number;
  /** The first page whose messages' lifetimes are extended, 0 for all; undefined for no extension. */
  readonly keepsFrom?: number | undefined;
  /** Where to start in the fair line; undefined for its beginning. */
  readonly keepsFairFrom?: string | undefined;
}

/** Finishes a run whose end was being written, if that process died. */
export interface RunEndJob {
  readonly kind: 'runEnd';
  readonly accountId: string;
  readonly runId: string;
  /** When the run started, Unix milliseconds. */
  readonly createdAt: number;
  /** The place of its start in its journal. */
  readonly startSeq: number;
}

/** Lists and delivers a run whose start was being written, if that process died. */
export interface RunStartJob {
  readonly kind: 'runStart';
  readonly accountId: string;
  readonly runId: string;
  /** The message with the run's first entries, which identifies the start. */
  readonly messageId: string;
  /** The dead letter of the failed run that this one continues, if any. */
  readonly dlqId?: string | undefined;
}

/**
 * Checks a run's wait: at its deadline, to end it without its event; and soon after it was woken, because that process may have
 * died.
 */
export interface WaitTimeoutJob {
  readonly kind: 'waitTimeout';
  readonly accountId: string;
  readonly runId: string;
  /** The wait's place in the journal. */
  readonly seq: number;
  /** Unix milliseconds. */
  readonly dueAt: number;
}

/** Ends the time for a destination to complete an open attempt. */
export interface CompletionTimeoutJob {
  readonly kind: 'completionTimeout';
  readonly accountId: string;
  readonly messageId: string;
  /** 0 for the first delivery. */
  readonly attempt: number;
}

/** Fails a run whose endpoint sent a permanently refused request. */
export interface RunRefusedJob {
  readonly kind: 'runRefused';
  readonly accountId: string;
  readonly runId: string;
  readonly startSeq: number;
  /** The refusal's code and sentence. */
  readonly code: string;
  readonly reason: string;
}

export type Job =
  | AttemptJob
  | CompletionTimeoutJob
  | PumpJob
  | RunStartJob
  | RunEndJob
  | RunRefusedJob
  | WaitTimeoutJob;

export const deliveryQueues = ['short', 'long'] as const;
export type DeliveryQueue = (typeof deliveryQueues)[number];

export const formatJob = (job: Job): string => JSON.stringify(job);

/** @param attempt 0 for the first delivery */
export const attemptJob = (
  {
    accountId,
    messageId,
    url,
    timeoutMs,
    change,
  }: Pick<Message, 'accountId' | 'messageId' | 'url' | 'timeoutMs' | 'change'>,
  attempt: number,
): AttemptJob => ({
  kind: 'attempt',
  accountId,
  messageId,
  attempt,
  queue: timeoutMs <= shortTimeoutMs ? 'short' : 'long',
  host: hostOf(url),
  change: change?.id,
});
