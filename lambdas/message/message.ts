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
  /** `id` is the body row's; the message's by default. */
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

/** Retries of dead letters, repeated publishes and callbacks make related messages. */
const lineage = z.object({
  /** The message that it was made from. */
  retriedFrom: optionalText,
  /** The first message in the chain. */
  originMessageId: optionalText,
  /** The last message made from this one. */
  retriedAs: optionalText,
  /** The message that this callback reports. A failed callback does not cause the account's failure callback. */
  callbackOf: optionalText,
});

export const callbackSettings = z.object({
  ...deliverySettings.shape,
  /** Delay after the attempt that it reports. */
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
  /** When the run started, Unix milliseconds. */
  createdAt: z.number(),
  /** The place of the run's start in its journal. */
  startSeq: z.number(),
  /** The run's dead letter; only in a failure request. */
  dlqId: optionalText,
});
export type WorkflowPart = Readable<z.infer<typeof workflowPart>>;

export const message = z.object({
  ...deliverySettings.shape,
  ...origin.shape,
  ...lineage.shape,
  messageId: z.string(),
  accountId: z.string(),
  /** The header prefix of its dialect. */
  prefix: z.string(),
  /** Unix milliseconds. */
  createdAt: z.number(),
  /** Not delivered before this, Unix milliseconds. */
  notBefore: z.number(),
  callerIp: z.string(),
  gone: storedGone,
  /** A change, with the changed due times of retries by number, Unix milliseconds. */
  change: z.optional(z.object({ id: z.string(), dueAt: z.record(z.string(), z.number()) })),
  /** Its quiet period, and its version there: see `debounce/period.ts`. */
  debounce: z.optional(z.object({ key: z.string(), version: z.number(), firstDueAt: z.number() })),
  callback: z.optional(callbackSettings),
  failureCallback: z.optional(callbackSettings),
  /** For a callback: the slot that the message that it reports keeps in its queue until its callbacks are over. */
  slotOf: z.optional(z.object({ queueName: z.string(), entry: z.string() })),
  workflow: z.optional(workflowPart),
  /** Whether it reports an alarm of its account. Alarms do not count its attempts or its dead letter. */
  isAlarm: z.optional(z.literal(true)),
  /** The signature of its URL group's endpoint, besides the service's. */
  endpointSignature: z.optional(messageSignature),
  /** When its row may expire, Unix milliseconds. */
  expiresAt: z.number(),
});
export type Message = Readable<z.infer<typeof message>>;
export type QueueSlot = NonNullable<Message['slotOf']>;

/** The fields that a message's other rows repeat, to filter the log. Its URL has no `user:password`. */
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
  /** Unix milliseconds. */
  createdAt: z.number(),
});
export type LogSubject = Readable<z.infer<typeof logSubject>>;

/**
 * DELIVERED: success. RETRY: failure, with another attempt to follow. FAILED: failure of the last attempt. CANCELED: failure of
 * a message cancelled in between.
 */
export const attemptStates = ['DELIVERED', 'RETRY', 'FAILED', 'CANCELED'] as const;
export type AttemptState = (typeof attemptStates)[number];

/** A kept answer. Without one, `status` is 0 and `error` says why. */
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
  /** Unix milliseconds. */
  startedAt: z.number(),
  /** Unix milliseconds. */
  recordedAt: z.number(),
  /** When the next attempt is due, Unix milliseconds; only with RETRY. */
  nextDeliveryAt: z.optional(z.number()),
  /** The account's failure callback at this time; it may change later. */
  accountCallback: optionalText,
  /** Whether it was open after a 202: see {@link OpenAttempt}. */
  wasOpen: z.optional(z.literal(true)),
  /** Whether its answer is a completion: messages that need the whole answer are then stored after the record. */
  isCompleted: z.optional(z.literal(true)),
  /** The token that completed it: its id, or `token`. Undefined for its destination, which has none. */
  completedBy: optionalText,
  /** The comment of its completion. */
  comment: optionalText,
  /** A completion's whole body, if the record truncates it. */
  wholeBody: z.optional(z.object({ id: z.string(), stored: storedBody })),
  response: keptResponse,
});
export type Attempt = Readable<z.infer<typeof attempt>>;

/** An attempt that was answered with 202, or is offered to clients or was taken by one, and waits for its completion. */
export interface OpenAttempt {
  /** 0 for the first delivery. */
  readonly number: number;
  /** When its request was made, Unix milliseconds. */
  readonly startedAt: number;
  /** When it fails without a completion, Unix milliseconds. */
  readonly until: number;
  /** Whether no client has taken it. */
  readonly isOffered?: boolean | undefined;
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
