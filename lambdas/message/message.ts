import type { StoredBody } from './bodies.ts';
import type { DeliveryOptions, Gone } from '../options/options.ts';
import type { Header } from '../shared/headers.ts';
import type { MessageSignature } from '../account/endpointSecrets.ts';
import { dayMs } from '../shared/clock.ts';
import { longestRetryDelayMs } from '../shared/bounds.ts';
import type { Limits } from '../value/limits.ts';

export interface DeliverySettings extends DeliveryOptions {
  readonly url: string;
  /** Headers for the destination, with `content-type`; lower-case names. */
  readonly headers: readonly Header[];
}

export interface Origin {
  readonly topicName?: string | undefined;
  readonly endpointName?: string | undefined;
  readonly queueName?: string | undefined;
  readonly scheduleId?: string | undefined;
}

/** Retries of dead letters, repeated publishes and callbacks make related messages. */
export interface Lineage {
  /** The message that it was made from. */
  readonly retriedFrom?: string | undefined;
  /** The first message in the chain. */
  readonly originMessageId?: string | undefined;
  /** The last message made from this one. */
  readonly retriedAs?: string | undefined;
  /** The message that this callback reports. A failed callback does not cause the account's failure callback. */
  readonly callbackOf?: string | undefined;
}

export interface CallbackSettings extends DeliverySettings {
  /** Delay after the attempt that it reports. */
  readonly delayMs: number;
}

/** A queue's slot that a message keeps until its callbacks are over. */
export interface QueueSlot {
  readonly queueName: string;
  readonly entry: string;
}

/**
 * A message's role in a run:
 * - `list`: delivers the entries up to one of them to the endpoint.
 * - `call`: a step's request to a third party.
 * - `callResult`: delivers a call's answer to the endpoint.
 * - `failureRequest`: tells the endpoint that its run failed.
 */
export const workflowRoles = ['list', 'call', 'callResult', 'failureRequest'] as const;
export type WorkflowRole = (typeof workflowRoles)[number];

export interface WorkflowPart {
  readonly role: WorkflowRole;
  readonly runId: string;
  /** When the run started, Unix milliseconds. */
  readonly createdAt: number;
  /** The place of the run's start in its journal. */
  readonly startSeq: number;
  /** The run's dead letter; only in a failure request. */
  readonly dlqId?: string | undefined;
}

export interface MessageChange {
  readonly id: string;
  /** Changed due times of retries by number, Unix milliseconds. */
  readonly dueAt: Readonly<Record<string, number>>;
}

export interface Message extends DeliverySettings, Origin, Lineage {
  readonly messageId: string;
  readonly accountId: string;
  /** The header prefix of its dialect. */
  readonly prefix: string;
  /** Unix milliseconds. */
  readonly createdAt: number;
  /** Not delivered before this, Unix milliseconds. */
  readonly notBefore: number;
  readonly callerIp: string;
  readonly gone?: Gone;
  readonly change?: MessageChange | undefined;
  /** Its quiet period, and its version there: see `debounce/period.ts`. */
  readonly debounce?:
    | { readonly key: string; readonly version: number; readonly firstDueAt: number }
    | undefined;
  readonly callback?: CallbackSettings | undefined;
  readonly failureCallback?: CallbackSettings | undefined;
  /** For a callback: the slot of the message that it reports, if that has a queue. */
  readonly slotOf?: QueueSlot | undefined;
  readonly workflow?: WorkflowPart | undefined;
  /** Whether it reports an alarm of its account. Alarms do not count its attempts or its dead letter. */
  readonly isAlarm?: true | undefined;
  /** The signature of its URL group's endpoint, besides the service's. */
  readonly endpointSignature?: MessageSignature | undefined;
  /** When its row may expire, Unix milliseconds. */
  readonly expiresAt: number;
}

/**
 * DELIVERED: success. RETRY: failure, with another attempt to follow. FAILED: failure of the last attempt. CANCELED: failure of
 * a message cancelled in between.
 */
export const attemptStates = ['DELIVERED', 'RETRY', 'FAILED', 'CANCELED'] as const;
export type AttemptState = (typeof attemptStates)[number];

/** A kept answer. Without one, `status` is 0 and `error` says why. */
export interface KeptResponse {
  readonly status: number;
  readonly error?: string | undefined;
  /** Lower-case names. */
  readonly headers: readonly Header[];
  /** Truncated to the account's `max_events_size`. */
  readonly body: Uint8Array;
}

/** The record of a finished attempt, written once. */
export interface Attempt {
  /** 0 for the first delivery, n for the nth retry. */
  readonly number: number;
  readonly state: AttemptState;
  /** Unix milliseconds. */
  readonly startedAt: number;
  /** Unix milliseconds. */
  readonly recordedAt: number;
  /** When the next attempt is due, Unix milliseconds; only with RETRY. */
  readonly nextDeliveryAt?: number | undefined;
  /** The account's failure callback at this time; it may change later. */
  readonly accountCallback?: string | undefined;
  /** Whether it was open after a 202: see {@link OpenAttempt}. */
  readonly wasOpen?: true | undefined;
  /** Whether its answer is a completion: messages that need the whole answer are then stored after the record. */
  readonly isCompleted?: true | undefined;
  /** A completion's whole body, if the record truncates it. */
  readonly wholeBody?: { readonly id: string; readonly stored: StoredBody } | undefined;
  readonly response: KeptResponse;
}

/** An attempt that was answered with 202 and waits for its completion. */
export interface OpenAttempt {
  /** 0 for the first delivery. */
  readonly number: number;
  /** When its request was made, Unix milliseconds. */
  readonly startedAt: number;
  /** When it fails without a completion, Unix milliseconds. */
  readonly until: number;
}

/** Whether no other attempt follows. */
export const isFinal = ({ state }: Pick<Attempt, 'state'>): boolean => state !== 'RETRY';

interface AttemptsAndEnd {
  readonly attempts: readonly { readonly state: AttemptState }[];
  readonly end: unknown;
}

/** Whether a message was ended, or its last attempt is recorded. */
export const isOver = ({ attempts, end }: AttemptsAndEnd): boolean =>
  end !== undefined || attempts.some(isFinal);

/** The limits by which rows expire. */
type Retention = Pick<Limits, 'max_dlq_retention_time_milis' | 'log_retention_days'>;

/** In milliseconds, for finished messages and runs. */
export const logRetentionMs = ({ log_retention_days: days }: Pick<Retention, 'log_retention_days'>): number =>
  days * dayMs;

type Lifetime = Pick<Message, 'notBefore' | 'maxRetries' | 'timeoutMs' | 'deferredMs'>;

/** When a message's last attempt ends at the latest if it waits in no lane, Unix milliseconds. */
export const latestEndOf = ({ notBefore, maxRetries, timeoutMs, deferredMs = 0 }: Lifetime): number =>
  notBefore + (maxRetries + 1) * (longestRetryDelayMs + timeoutMs + deferredMs);

/**
 * When a message's row may expire: a day after its retries, log entries and dead letter. Set at acceptance, because an
 * extension costs a write.
 *
 * @returns Unix milliseconds
 */
export function expiryOf(message: Lifetime, retention: Retention): number {
  const keptMs = Math.max(retention.max_dlq_retention_time_milis, logRetentionMs(retention));
  return latestEndOf(message) + keptMs + dayMs;
}
