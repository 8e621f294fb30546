import { dayMs, secondMs } from './clock.ts';
import type { Method } from './configuration.ts';
import type { Header } from './dialect.ts';
import { longestRetryDelayMs } from './backoff.ts';
import type { FlowControl } from './flowControl.ts';
import type { Redaction } from './redaction.ts';

/** How one HTTP request is to be made, and made again: of a message, and of the callbacks it asks for. */
export interface DeliverySettings {
  readonly url: string;
  readonly method: Method;
  /** What the destination gets, `content-type` included; names in lower case. */
  readonly headers: readonly Header[];
  readonly maxRetries: number;
  /** How long the destination may take to answer, connecting included. */
  readonly timeoutMs: number;
  /** An expression as `parseRetryDelay` reads it. */
  readonly retryDelay?: string | undefined;
  readonly labels: readonly string[];
  readonly flowControl?: FlowControl | undefined;
  readonly redaction?: Redaction | undefined;
}

/** Where a message came from, besides its publisher. */
export interface Origin {
  readonly topicName?: string | undefined;
  readonly endpointName?: string | undefined;
  readonly queueName?: string | undefined;
  readonly scheduleId?: string | undefined;
}

/** What a callback is made with; everything that is not its body. */
export interface CallbackSettings extends DeliverySettings {
  /** How long the callback waits before it is delivered. */
  readonly delayMs: number;
}

/** An accepted message, without its body. */
export interface Message extends DeliverySettings, Origin {
  readonly messageId: string;
  readonly accountId: string;
  /** The dialect it came in. */
  readonly prefix: string;
  /** Unix milliseconds. */
  readonly createdAt: number;
  /** Unix milliseconds before which it is not delivered. */
  readonly notBefore: number;
  readonly callerIp: string;
  readonly callback?: CallbackSettings | undefined;
  readonly failureCallback?: CallbackSettings | undefined;
  /** Unix milliseconds after which nobody needs its row any more. */
  readonly expiresAt: number;
}

/**
 * What has become of an attempt: the destination took it, it will be tried again, or it was the last; or it failed when its
 * message had been cancelled meanwhile, and nothing follows.
 */
export const attemptStates = ['DELIVERED', 'RETRY', 'FAILED', 'CANCELLED'] as const;
export type AttemptState = (typeof attemptStates)[number];

/** A destination's answer as it is kept: `status` 0 and an `error` when there was none. */
export interface KeptResponse {
  readonly status: number;
  readonly error?: string | undefined;
  readonly headers: Readonly<Record<string, readonly string[]>>;
  /** Cut to its account's `max_events_size`. */
  readonly body: Uint8Array;
}

/** The record of one finished attempt: written once, and the point from which it counts as made. */
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
  readonly response: KeptResponse;
}

/** How long records of finished messages are kept for the log. */
export const logRetentionMs = 7 * dayMs;

/**
 * When a message's row may vanish. It is set once, at acceptance, to a moment by which every retry has been made
 * and every trace has served: rows are never rewritten to prolong them.
 */
export function expiryOf(
  message: Pick<Message, 'notBefore' | 'maxRetries' | 'timeoutMs'>,
  dlqRetentionMs: number,
): number {
  const attempts = message.maxRetries + 1;
  const latestEnd = message.notBefore + attempts * (longestRetryDelayMs + message.timeoutMs);
  return latestEnd + Math.max(dlqRetentionMs, logRetentionMs) + dayMs;
}

/** Table rows count time to live in seconds. */
export const epochSeconds = (timeMs: number): number => Math.ceil(timeMs / secondMs);
