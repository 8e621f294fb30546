import * as z from 'zod/mini';
import type { Readable } from '../options/option.ts';
import { stored, storedGone } from '../options/options.ts';
import { messageSignature } from '../account/endpointSecrets.ts';
import { dayMs } from '../shared/clock.ts';
import { longestRetryDelayMs } from '../shared/bounds.ts';
import { bytes, headerPairs } from '../table/attributes.ts';
import type { Limits } from '../value/limits.ts';

const optionalText = z.optional(z.string());

export const storedBody = z.union([
  z.object({ at: z.literal('here'), bytes, deflated: z.boolean() }),
  /** `id` is the id of the body's row; by default that of the message. */
  z.object({ at: z.literal('row'), deflated: z.boolean(), id: optionalText }),
  z.object({ at: z.literal('bucket'), key: z.string() }),
]);
export type StoredBody = Readable<z.infer<typeof storedBody>>;

const deliverySettings = z.object({
  url: z.string(),
  /** Headers for the destination, with `content-type`; lower-case names. */
  headers: headerPairs,
  ...stored,
});
export type DeliverySettings = Readable<z.infer<typeof deliverySettings>>;

const origin = z.object({
  topicName: optionalText,
  endpointName: optionalText,
  queueName: optionalText,
  scheduleId: optionalText,
});

/** Messages that were made from others: retries of dead letters, repeated publishes and callbacks. */
const lineage = z.object({
  /** The message from which this one was made. */
  retriedFrom: optionalText,
  /** The first message in the chain. */
  originMessageId: optionalText,
  /** The last message that was made from this one. */
  retriedAs: optionalText,
  /**
   * For a callback: the message that it reports. A failed callback is not reported to the account's failure
   * callback.
   */
  callbackOf: optionalText,
});

export const callbackSettings = z.object({
  ...deliverySettings.shape,
  /** The delay after the attempt that the callback reports. */
  delayMs: z.number(),
});
export type CallbackSettings = Readable<z.infer<typeof callbackSettings>>;

/**
 * A message's role in a run:
 * - `list`: delivers the entries up to one of them to the endpoint.
 * - `call`: a step's request to a third party.
 * - `callResult`: delivers a call's answer to the endpoint.
 * - `failureRequest`: tells the endpoint that its run failed.
 */
const workflowRoles = ['list', 'call', 'callResult', 'failureRequest'] as const;
export type WorkflowRole = (typeof workflowRoles)[number];

const workflowPart = z.object({
  role: z.enum(workflowRoles),
  runId: z.string(),
  /** When the run started. */
  createdAt: z.number(),
  /** The place of the run's start in its journal. */
  startSeq: z.number(),
  /** For a failure callback: the run's dead letter. */
  dlqId: optionalText,
});
export type WorkflowPart = Readable<z.infer<typeof workflowPart>>;

export const message = z.object({
  ...deliverySettings.shape,
  ...origin.shape,
  ...lineage.shape,
  messageId: z.string(),
  accountId: z.string(),
  /** The header prefix of the message's dialect. */
  prefix: z.string(),
  createdAt: z.number(),
  /** The message is not delivered before this. */
  notBefore: z.number(),
  callerIp: z.string(),
  gone: storedGone,
  /** The last change, with the due times of the changed retries by number. */
  change: z.optional(z.object({ id: z.string(), dueAt: z.record(z.string(), z.number()) })),
  /** The message's quiet period, and its version in it: see `debounce/period.ts`. */
  debounce: z.optional(z.object({ key: z.string(), version: z.number(), firstDueAt: z.number() })),
  callback: z.optional(callbackSettings),
  failureCallback: z.optional(callbackSettings),
  /** For a callback: the queue's slot that its message keeps until its callbacks are over. */
  slotOf: z.optional(z.object({ queueName: z.string(), entry: z.string() })),
  workflow: z.optional(workflowPart),
  /** Whether the message reports an alarm of its account. Alarms do not count such messages. */
  isAlarm: z.optional(z.literal(true)),
  /** The signature of the URL group's endpoint, in addition to the service's. */
  endpointSignature: z.optional(messageSignature),
  /** When its row may expire. */
  expiresAt: z.number(),
});
export type Message = Readable<z.infer<typeof message>>;
export type QueueSlot = NonNullable<Message['slotOf']>;

/**
 * The fields that are repeated in a message's other rows, so that the log can be filtered. The URL has no
 * `user:password`.
 */
export const logSubject = z.object({
  ...origin.shape,
  messageId: z.string(),
  url: z.string(),
  method: stored.method,
  labels: stored.labels,
  callerIp: z.string(),
  flowControlKey: optionalText,
  retriedFrom: optionalText,
  isAlarm: z.optional(z.literal(true)),
  createdAt: z.number(),
});
export type LogSubject = Readable<z.infer<typeof logSubject>>;

/**
 * DELIVERED: success. RETRY: failure; another attempt follows. FAILED: failure of the last attempt. CANCELED:
 * failure after the message was cancelled.
 */
export const attemptStates = ['DELIVERED', 'RETRY', 'FAILED', 'CANCELED'] as const;
export type AttemptState = (typeof attemptStates)[number];

/** The part of an answer that is stored. Without an answer, `status` is 0 and `error` says why. */
export const keptResponse = z.object({
  status: z.number(),
  error: optionalText,
  /** Lower-case names. */
  headers: headerPairs,
  /** Truncated to the account's `max_events_size`. */
  body: bytes,
});
export type KeptResponse = Readable<z.infer<typeof keptResponse>>;

/** The record of a finished attempt, written once. */
export const attempt = z.object({
  /** 0 for the first delivery, n for the nth retry. */
  number: z.number(),
  state: z.enum(attemptStates),
  startedAt: z.number(),
  recordedAt: z.number(),
  /** When the next attempt is due; only with RETRY. */
  nextDeliveryAt: z.optional(z.number()),
  /** The account's failure callback at the time of the attempt. */
  accountCallback: optionalText,
  /** Whether the attempt was open: see {@link OpenAttempt}. */
  wasOpen: z.optional(z.literal(true)),
  /**
   * Whether the answer is a completion. Then the messages that contain the whole answer are stored after the
   * record.
   */
  isCompleted: z.optional(z.literal(true)),
  /**
   * The token that completed the attempt: its id, or `token`. Undefined if its destination did, which has no
   * token.
   */
  completedBy: optionalText,
  /** The comment with which it was completed. */
  comment: optionalText,
  /** The whole body of a completion that is truncated in the record. */
  wholeBody: z.optional(z.object({ id: z.string(), stored: storedBody })),
  response: keptResponse,
});
export type Attempt = Readable<z.infer<typeof attempt>>;

/**
 * An attempt that waits for its completion: it was answered with 202, or is offered to clients, or was taken
 * by one.
 */
export interface OpenAttempt {
  /** 0 for the first delivery. */
  readonly number: number;
  /** When its request was made. */
  readonly startedAt: number;
  /** When it fails if it is not completed. */
  readonly until: number;
  /** True while the message waits for a client. A client that takes it, or gets more time for it, makes this false. */
  readonly isOffered?: boolean | undefined;
}

/** Whether no other attempt follows. */
export const isFinal = ({ state }: Pick<Attempt, 'state'>): boolean => state !== 'RETRY';

interface AttemptsAndEnd {
  readonly attempts: readonly { readonly state: AttemptState }[];
  readonly end: unknown;
}

/** Whether a message was cancelled, or its last attempt is recorded. */
export const isOver = ({ attempts, end }: AttemptsAndEnd): boolean =>
  end !== undefined || attempts.some(isFinal);

/** The limits that decide when rows expire. */
type Retention = Pick<Limits, 'max_dlq_retention_time_milis' | 'log_retention_days'>;

/** How long finished messages and runs stay in the log (ms). */
export const logRetentionMs = ({ log_retention_days: days }: Pick<Retention, 'log_retention_days'>): number =>
  days * dayMs;

type Lifetime = Pick<Message, 'notBefore' | 'maxRetries' | 'timeoutMs' | 'deferredMs'>;

/** The latest end of a message's last attempt if it waits in no lane. */
export const latestEndOf = ({ notBefore, maxRetries, timeoutMs, deferredMs = 0 }: Lifetime): number =>
  notBefore + (maxRetries + 1) * (longestRetryDelayMs + timeoutMs + deferredMs);

/**
 * When a message's row may expire: a day after its retries, log entries and dead letter. Set when the message
 * is accepted, because extending it later costs a write.
 */
export function expiryOf(message: Lifetime, retention: Retention): number {
  const keptMs = Math.max(retention.max_dlq_retention_time_milis, logRetentionMs(retention));
  return latestEndOf(message) + keptMs + dayMs;
}
