import type { StoredBody } from './bodies.ts';
import type { DeliveryOptions, Gone } from '../options/options.ts';
import type { Header } from '../shared/headers.ts';
import type { MessageSignature } from '../account/endpointSecrets.ts';
import { dayMs } from '../shared/clock.ts';
import { longestRetryDelayMs } from '../shared/bounds.ts';
import type { Limits } from '../value/limits.ts';

/** Settings of the delivery of a message, or of a callback that it asks for. */
export interface DeliverySettings extends DeliveryOptions {
  readonly url: string;
  /** Headers for the destination, `content-type` included; names in lower case. */
  readonly headers: readonly Header[];
}

/** The URL group, queue or schedule that a message came by. */
export interface Origin {
  readonly topicName?: string | undefined;
  readonly endpointName?: string | undefined;
  readonly queueName?: string | undefined;
  readonly scheduleId?: string | undefined;
}

/** The messages before and after a message: a retry of a dead letter makes another of it, and so do publishing again and callbacks. */
export interface Lineage {
  /** The id of the message that this one was made from. */
  readonly retriedFrom?: string | undefined;
  /** The id of the first message that this one goes back to, over all that were made again. */
  readonly originMessageId?: string | undefined;
  /** The id of the last message that was made from this one. */
  readonly retriedAs?: string | undefined;
  /** The id of the message that this callback tells of. The account's failure callback is not told when a callback fails. */
  readonly callbackOf?: string | undefined;
}

/** A callback that a message asks for, all but its body. */
export interface CallbackSettings extends DeliverySettings {
  /** The callback is delivered this long after the attempt that it tells of. */
  readonly delayMs: number;
}

/** A slot of a queue that a message keeps until its callbacks are over. */
export interface QueueSlot {
  readonly queueName: string;
  /** The message's entry in the queue's lane. */
  readonly entry: string;
}

/**
 * The roles of messages in a workflow's run:
 * - `list`: delivers the list of entries up to one of them to the endpoint.
 * - `call`: a step's request to a third party.
 * - `callResult`: brings the answer to a call to the endpoint.
 * - `failureRequest`: tells the endpoint that its run has failed.
 */
export const workflowRoles = ['list', 'call', 'callResult', 'failureRequest'] as const;
export type WorkflowRole = (typeof workflowRoles)[number];

/** The part of a message in a run. */
export interface WorkflowPart {
  readonly role: WorkflowRole;
  readonly runId: string;
  /** Unix milliseconds at which the run was started. */
  readonly createdAt: number;
  /** The place of the run's start in the journal of its id. */
  readonly startSeq: number;
  /** The dead letter of the run; only a failure request has one. */
  readonly dlqId?: string | undefined;
}

/** The last change of a message that waited. */
export interface MessageChange {
  /** Tells its job from those of other changes. */
  readonly id: string;
  /** When retries are due, Unix milliseconds, by their numbers: those whose time was changed. */
  readonly dueAt: Readonly<Record<string, number>>;
}

/** An accepted message, without its body. */
export interface Message extends DeliverySettings, Origin, Lineage {
  readonly messageId: string;
  readonly accountId: string;
  /** The header prefix of the dialect that it was published in. */
  readonly prefix: string;
  /** Unix milliseconds. */
  readonly createdAt: number;
  /** Unix milliseconds before which it is not delivered. */
  readonly notBefore: number;
  readonly callerIp: string;
  readonly gone?: Gone;
  readonly change?: MessageChange | undefined;
  /** The quiet period that it is delivered after, and its version there: see `debounce/period.ts`. */
  readonly debounce?: { readonly key: string; readonly version: number } | undefined;
  readonly callback?: CallbackSettings | undefined;
  readonly failureCallback?: CallbackSettings | undefined;
  /** The slot of the message that a callback tells of, where that message came through a queue. */
  readonly slotOf?: QueueSlot | undefined;
  /** The part of the message in its workflow's run, if it belongs to one. */
  readonly workflow?: WorkflowPart | undefined;
  /** Whether it tells of an alarm of its account. No alarm counts its attempts, nor its dead letter. */
  readonly isAlarm?: true | undefined;
  /** The signature that its endpoint of a URL group has besides the service's own. */
  readonly endpointSignature?: MessageSignature | undefined;
  /** Unix milliseconds after which its row is not needed any more. */
  readonly expiresAt: number;
}

/**
 * The outcomes of an attempt. It was a success (DELIVERED); or it failed, and another one follows (RETRY), no other follows
 * because it was the last (FAILED), or none follows because the message was cancelled meanwhile (CANCELED).
 */
export const attemptStates = ['DELIVERED', 'RETRY', 'FAILED', 'CANCELED'] as const;
export type AttemptState = (typeof attemptStates)[number];

/** A destination's answer as it is kept. Where there was none, `status` is 0 and `error` says why. */
export interface KeptResponse {
  readonly status: number;
  readonly error?: string | undefined;
  /** Names in lower case. */
  readonly headers: readonly Header[];
  /** Cut to its account's `max_events_size`. */
  readonly body: Uint8Array;
}

/** The record of one finished attempt. It is written once, and with it the attempt counts as made. */
export interface Attempt {
  /** 0 for the first delivery, n for the nth retry. */
  readonly number: number;
  readonly state: AttemptState;
  /** Unix milliseconds. */
  readonly startedAt: number;
  /** Unix milliseconds. */
  readonly recordedAt: number;
  /** Unix milliseconds of the next attempt; with RETRY only. */
  readonly nextDeliveryAt?: number | undefined;
  /** Whether the ids of its callbacks are derived from its outcome, too. Those of older releases are not. */
  readonly callbacksByOutcome?: true | undefined;
  /** The failure callback of the account that is told of it: that of this moment, because the account may be given another one. */
  readonly accountCallback?: string | undefined;
  /** Whether its destination had answered 202, and it was open from then on: see {@link OpenAttempt}. */
  readonly wasOpen?: true | undefined;
  /** Whether its answer is a completion: then the messages that need the whole of it are stored after the record. */
  readonly isCompleted?: true | undefined;
  /** The whole body of a completion, where the record has only its beginning. */
  readonly wholeBody?: { readonly id: string; readonly stored: StoredBody } | undefined;
  readonly response: KeptResponse;
}

/** An attempt whose destination has answered 202 and is to complete it. */
export interface OpenAttempt {
  /** 0 for the first delivery. */
  readonly number: number;
  /** Unix milliseconds at which its request was made. */
  readonly startedAt: number;
  /** Unix milliseconds at which it fails unless it is completed. */
  readonly until: number;
}

/** Whether no other attempt follows. */
export const isFinal = ({ state }: Pick<Attempt, 'state'>): boolean => state !== 'RETRY';

/** The part of a message's history that decides whether it is over. */
interface AttemptsAndEnd {
  readonly attempts: readonly { readonly state: AttemptState }[];
  /** The end that came from outside; undefined for a message without one. */
  readonly end: unknown;
}

/** Whether no further attempt of a message is made: it was ended, or an attempt was recorded after which none follows. */
export const isOver = ({ attempts, end }: AttemptsAndEnd): boolean =>
  end !== undefined || attempts.some(isFinal);

/** The limits of an account by which its rows expire. */
type Retention = Pick<Limits, 'max_dlq_retention_time_milis' | 'log_retention_days'>;

/** Records of finished messages and runs are kept this long for the log, in milliseconds. */
export const logRetentionMs = ({ log_retention_days: days }: Pick<Retention, 'log_retention_days'>): number =>
  days * dayMs;

/** The part of a message that decides how long its attempts may take. */
type Lifetime = Pick<Message, 'notBefore' | 'maxRetries' | 'timeoutMs' | 'deferredMs'>;

/** Computes when the last attempt of a message ends at the latest, Unix milliseconds, should it wait for no lane. */
export const latestEndOf = ({ notBefore, maxRetries, timeoutMs, deferredMs = 0 }: Lifetime): number =>
  notBefore + (maxRetries + 1) * (longestRetryDelayMs + timeoutMs + deferredMs);

/**
 * Computes when a message's row may expire: once every retry has been made, its log entries and its dead letter are gone,
 * and a day more. It is set at acceptance, because to extend a row's lifetime costs a write; only a message that waits in a
 * waiting line for long is extended.
 *
 * @returns Unix milliseconds
 */
export function expiryOf(message: Lifetime, retention: Retention): number {
  const keptMs = Math.max(retention.max_dlq_retention_time_milis, logRetentionMs(retention));
  return latestEndOf(message) + keptMs + dayMs;
}
