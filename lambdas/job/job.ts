import { shortTimeoutMs } from '../aws/resources.ts';
import { targetOf } from '../destination/destination.ts';

import type { Message, QueueSlot } from '../message/message.ts';

/**
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
  /** Of the destination, `host` or `host:port`; undefined where whoever sends it does not know. */
  readonly host?: string | undefined;
  readonly admittedTo?: AdmittedTo | undefined;
  /**
   * Unix milliseconds at which it was made, where its message is older than that: the message's row is written right after the
   * work was sent, and may not be there yet.
   */
  readonly madeAt?: number | undefined;
  /** The times that it came and found no message. */
  readonly looks?: number | undefined;
  /**
   * It only looks whether the attempt is recorded, and continues from the record: sent where work was dropped that SQS had handed
   * out before, for the other worker may have died after it recorded the attempt.
   */
  readonly isFollowUp?: boolean | undefined;
  /** Of a callback: the slot that is kept for it. It is here, too, because the callback's row may not have been stored. */
  readonly slotOf?: QueueSlot | undefined;
}

/** The admission to a lane that the work of an attempt was sent for. */
export interface AdmittedTo {
  readonly lane: LaneKind;
  readonly name: string;
  /** Tells this admission from another of the same attempt. */
  readonly ticket: string;
  /** Unix milliseconds. */
  readonly sentAt: number;
}

/** A look at a lane, to admit those of its waiting line for whom there is room. */
export interface PumpJob {
  readonly kind: 'pump';
  readonly accountId: string;
  readonly lane: LaneKind;
  readonly name: string;
  /** Unix milliseconds. */
  readonly dueAt: number;
  /** The page from which on the line's messages are to be kept from expiring, 0 for all; undefined where they need not. */
  readonly keepsFrom?: number | undefined;
}

/** A look at a run whose end is about to be written, to do what follows from it should the process die that writes it. */
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
 * A look at a run whose start is about to be written: should the process die that writes it, the look finds the run, and lists
 * and delivers it.
 */
export interface RunStartJob {
  readonly kind: 'runStart';
  readonly accountId: string;
  readonly runId: string;
  /** The message that delivers what the start begins with. It tells the start from others of the same id. */
  readonly messageId: string;
  /** The dead letter of the failed run that this one goes on from, if any. */
  readonly dlqId?: string | undefined;
}

/**
 * A look at a wait of a run: at its deadline, to end it without its event; and soon after it was woken, for whoever woke it may
 * have died before the result was sent.
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

/** Work for the delivery workers, as SQS and Scheduler carry it. */
export type Job = AttemptJob | PumpJob | RunStartJob | RunEndJob | WaitTimeoutJob;

export const deliveryQueues = ['short', 'long'] as const;
export type DeliveryQueue = (typeof deliveryQueues)[number];

/** The text that `parseJob` reads. */
export const formatJob = (work: Job): string => JSON.stringify(work);

/** @param attempt 0 for the first delivery */
export const attemptJob = (
  { accountId, messageId, url, timeoutMs }: Pick<Message, 'accountId' | 'messageId' | 'url' | 'timeoutMs'>,
  attempt: number,
): AttemptJob => ({
  kind: 'attempt',
  accountId,
  messageId,
  attempt,
  queue: timeoutMs <= shortTimeoutMs ? 'short' : 'long',
  host: targetOf(url).host,
});
