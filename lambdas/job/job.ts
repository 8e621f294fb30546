import * as z from 'zod/mini';
import { made, type Readable } from '../options/option.ts';
import { shortTimeoutMs } from '../aws/resources.ts';
import { hostOf } from '../destination/place.ts';
import type { Message } from '../message/message.ts';

/**
 * The kinds of lanes:
 *
 * - `queue`: a user's queue. Its slots belong to messages, until the message and its callbacks are over. All
 * messages go through its line.
 * - `key`: a flow-control key. Its slots belong to attempts.
 * - `account`: all deliveries of an account. Its slots belong to processes while there are many, and to
 * attempts otherwise.
 * - `circuit`: the attempts at one host while its circuit is open or attempts wait. Its slots belong to
 * attempts; its name is the host.
 * - `hold`: the attempts that a person holds back, like a circuit. Its name says what is held: see
 * `rules/hold.ts` of lanes.
 */
export const laneKinds = ['queue', 'key', 'account', 'circuit', 'hold'] as const;

export type LaneKind = (typeof laneKinds)[number];

export const deliveryQueues = ['short', 'long'] as const;
export type DeliveryQueue = (typeof deliveryQueues)[number];

const jobShape = /* @__PURE__ */ made(() => {
  const name = z.string().check(z.minLength(1));
  const place = z.int().check(z.nonnegative());
  return z.discriminatedUnion('kind', [
    z.object({
      kind: z.literal('attempt'),
      accountId: name,
      messageId: name,
      /** 0 for the first delivery. */
      attempt: place,
      /** `long` for attempts that may take longer. */
      queue: z.enum(deliveryQueues),
      /** The destination's host as in `hostOf`, if the sender knows it. */
      host: z.optional(z.string()),
      admittedTo: z.optional(
        z.object({
          lane: z.enum(laneKinds),
          name: z.string(),
          /** Distinguishes this grant from others of the same attempt. */
          ticket: z.string(),
          sentAt: z.number(),
        }),
      ),
      /**
       * When the job was made, if its message is older. The row is written right after the job is sent, so it
       * may still be missing.
       */
      madeAt: z.optional(z.number()),
      /** How often the job found no message. */
      looks: z.optional(place),
      /**
       * Whether the job only continues from the attempt's record. It is sent when a redelivered job is
       * dropped, because the other worker may have died.
       */
      isFollowUp: z.optional(z.boolean()),
      /** The name of a job that continues after a completion. If several are sent, only one may continue. */
      followUpId: z.optional(name),
      /** The change of the message for which the job was sent: see `publish/change.ts`. */
      change: z.optional(z.string()),
      /** For a callback: the slot that is kept for it. The callback's row may be missing. */
      slotOf: z.optional(z.object({ queueName: z.string(), entry: z.string() })),
    }),
    z.object({
      kind: z.literal('pump'),
      accountId: name,
      lane: z.enum(laneKinds),
      name: z.string(),
      dueAt: z.number(),
      /**
       * The first page whose messages' lifetimes the pump extends, 0 for all; undefined if it extends none.
       */
      keepsFrom: z.optional(z.number()),
      /** Where to begin in the fair line; undefined for its beginning. */
      keepsFairFrom: z.optional(z.string()),
    }),
    /** Finishes the start of a run if its process died. */
    z.object({
      kind: z.literal('runStart'),
      accountId: name,
      runId: name,
      /** The message with the run's first entries. It identifies the start. */
      messageId: name,
      /** The dead letter of the failed run that this run resumes, if any. */
      dlqId: z.optional(name),
    }),
    /** Finishes the work after a run's end if its process died. */
    z.object({
      kind: z.literal('runEnd'),
      accountId: name,
      runId: name,
      /** When the run started. */
      createdAt: z.number(),
      /** The place of the run's start in its journal. */
      startSeq: place,
    }),
    /** Fails a run because a request of its endpoint was permanently refused. */
    z.object({
      kind: z.literal('runRefused'),
      accountId: name,
      runId: name,
      startSeq: place,
      /** The refusal's code and sentence. */
      code: name,
      reason: z.string(),
    }),
    /**
     * Checks a wait of a run: at its deadline, to end it with a timeout; and soon after it was ended, because
     * the process that ended it may have died.
     */
    z.object({
      kind: z.literal('waitTimeout'),
      accountId: name,
      runId: name,
      /** The place of the wait in the journal. */
      seq: place,
      dueAt: z.number(),
    }),
    z.object({
      kind: z.literal('bulk'),
      accountId: name,
      bulkId: name,
      step: place,
    }),
    /** Ends the time in which a destination can complete an open attempt. */
    z.object({
      kind: z.literal('completionTimeout'),
      accountId: name,
      messageId: name,
      attempt: place,
      /** When that time ends, if it is not the attempt's first end. */
      until: z.optional(z.number()),
    }),
  ]);
});

export type Job = Readable<z.infer<typeof jobShape>>;
type JobOf<Kind extends Job['kind']> = Extract<Job, { readonly kind: Kind }>;
export type AttemptJob = JobOf<'attempt'>;
export type AdmittedTo = NonNullable<AttemptJob['admittedTo']>;
export type PumpJob = JobOf<'pump'>;
export type RunStartJob = JobOf<'runStart'>;
export type RunEndJob = JobOf<'runEnd'>;
export type RunRefusedJob = JobOf<'runRefused'>;
export type WaitTimeoutJob = JobOf<'waitTimeout'>;
export type BulkJob = JobOf<'bulk'>;
export type CompletionTimeoutJob = JobOf<'completionTimeout'>;

/** @throws Error for an invalid job */
export const parseJob = (text: string): Job => jobShape.parse(JSON.parse(text));

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
