import { shortTimeoutMs } from '../aws/resources.ts';
import { hostOf } from '../destination/place.ts';
import type { Message, QueueSlot } from '../message/message.ts';

/**
 * The kinds of lanes:
 *
 * - `queue`: a queue of the account. Its slots belong to messages, from the first attempt until the message and its
 *   callbacks are over, and everything goes through its line.
 * - `key`: a flow-control key. Its slots belong to single attempts.
 * - `account`: all deliveries of an account. Its slots belong to processes, as long as there are plenty, and else to
 *   single attempts.
 * - `circuit`: the attempts at one host, while its circuit is open and until those that waited have been made. Its slots belong
 *   to single attempts; its name is the host.
 */
export const laneKinds = ['queue', 'key', 'account', 'circuit'] as const;

export type LaneKind = (typeof laneKinds)[number];

/**
 * One attempt of a message that is due. The message itself stays in its row, so that the worker sees whether it was
 * cancelled or has ended meanwhile.
 */
export interface AttemptJob {
  readonly kind: 'attempt';
  readonly accountId: string;
  readonly messageId: string;
  /** 0 for the first delivery. */
  readonly attempt: number;
  /** The short delivery queue, or the one for answers that may take long. */
  readonly queue: DeliveryQueue;
  /** The destination's host, as `hostOf` has it; undefined where the sender does not know it. */
  readonly host?: string | undefined;
  readonly admittedTo?: AdmittedTo | undefined;
  /**
   * Unix milliseconds at which the job was made, where its message is older: the message's row is written right after the job was
   * sent, and may not be there yet.
   */
  readonly madeAt?: number | undefined;
  /** The times that the job came and found no message. */
  readonly looks?: number | undefined;
  /**
   * Whether the job only continues from the record of the attempt, if there is one: sent where a job was dropped that SQS had
   * handed out before, for the other worker may have died after it recorded the attempt.
   */
  readonly isFollowUp?: boolean | undefined;
  /** The change of the message that it was sent for: see `publish/change.ts`. */
  readonly change?: string | undefined;
  /** The slot that is kept for a callback. The job has it, too, because the callback's row may not have been stored. */
  readonly slotOf?: QueueSlot | undefined;
}

/** The grant of a lane's slot that the job of an attempt was sent for. */
export interface AdmittedTo {
  readonly lane: LaneKind;
  readonly name: string;
  /** Tells this grant from another to the same attempt. */
  readonly ticket: string;
  /** Unix milliseconds. */
  readonly sentAt: number;
}

/** The pump of a lane, which grants slots to those in the line for whom there is capacity. */
export interface PumpJob {
  readonly kind: 'pump';
  readonly accountId: string;
  readonly lane: LaneKind;
  readonly name: string;
  /** Unix milliseconds. */
  readonly dueAt: number;
  /** The page from which on the lifetimes of the line's messages are extended, 0 for all; undefined where they are not. */
  readonly keepsFrom?: number | undefined;
  /** The place in the fair line from which on they are; undefined for its beginning. */
  readonly keepsFairFrom?: string | undefined;
}

/** The check of a run whose end is about to be written: should the process die that writes it, the check does what follows. */
export interface RunEndJob {
  readonly kind: 'runEnd';
  readonly accountId: string;
  readonly runId: string;
  /** Unix milliseconds at which the run was started. */
  readonly createdAt: number;
  /** The place of its start in the journal of its id. */
  readonly startSeq: number;
}

/**
 * The check of a run whose start is about to be written: should the process die that writes it, the check lists and delivers the
 * run.
 */
export interface RunStartJob {
  readonly kind: 'runStart';
  readonly accountId: string;
  readonly runId: string;
  /** The message that delivers the first entries of the run. It tells the start from others of the same id. */
  readonly messageId: string;
  /** The dead letter of the failed run that this one goes on from, if any. */
  readonly dlqId?: string | undefined;
}

/**
 * The check of a wait of a run: at its deadline, to end it without its event; and soon after it was woken, for the process that
 * woke it may have died before the result was sent.
 */
export interface WaitTimeoutJob {
  readonly kind: 'waitTimeout';
  readonly accountId: string;
  readonly runId: string;
  /** The place of the wait in the run's journal. */
  readonly seq: number;
  /** Unix milliseconds. */
  readonly dueAt: number;
}

/** The end of the time in which a destination may complete an open attempt. */
export interface CompletionTimeoutJob {
  readonly kind: 'completionTimeout';
  readonly accountId: string;
  readonly messageId: string;
  /** 0 for the first delivery. */
  readonly attempt: number;
}

/** The failure of a run whose endpoint sent a request that was refused for good. */
export interface RunRefusedJob {
  readonly kind: 'runRefused';
  readonly accountId: string;
  readonly runId: string;
  /** The place of its start in the journal of its id. */
  readonly startSeq: number;
  /** The code and the sentence of the refusal. */
  readonly code: string;
  readonly reason: string;
}

/** A job for the delivery workers, as SQS and Scheduler carry it. */
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

/** The text that `parseJob` reads. */
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
