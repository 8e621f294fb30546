import * as z from 'zod/mini';
import { made, type Readable } from '../options/option.ts';
import { shortTimeoutMs } from '../aws/resources.ts';
import { hostOf } from '../destination/place.ts';
import type { Message } from '../message/message.ts';

/**
 * The kinds of lanes:
 *
 * - `queue`: a user's queue. Its slots belong to messages, until the message and its callbacks are over. Everything goes
 *   through its line.
 * - `key`: a flow-control key. Its slots belong to attempts.
 * - `account`: all deliveries of an account. Its slots belong to processes while there are plenty, otherwise to attempts.
 * - `circuit`: the attempts at one host while its circuit is open or attempts wait. Its slots belong to attempts; its name is
 *   the host.
 * - `hold`: the attempts that a person holds back, as for a circuit. Its name is what is held: see `rules/hold.ts` of lanes.
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
      /** Long for slow answers. */
      queue: z.enum(deliveryQueues),
      /** As in `hostOf`, if the sender knows it. */
      host: z.optional(z.string()),
      admittedTo: z.optional(
        z.object({
          lane: z.enum(laneKinds),
          name: z.string(),
          /** Identifies the grant among those of the attempt. */
          ticket: z.string(),
          /** Unix milliseconds. */
          sentAt: z.number(),
        }),
      ),
      /**
       * When the job was made, Unix milliseconds, if its message is older: the row is written right after that, and may be
       * missing.
       */
      madeAt: z.optional(z.number()),
      /** How often the job found no message. */
      looks: z.optional(place),
      /**
       * Whether the job only continues from the attempt's record. It follows a dropped redelivered job, whose other worker may
       * have died.
       */
      isFollowUp: z.optional(z.boolean()),
      /** Names a follow-up job of a completion, of which only one may continue. */
      followUpId: z.optional(name),
      /** The change of the message that it was sent for: see `publish/change.ts`. */
      change: z.optional(z.string()),
      /** The slot kept for a callback, whose row may be missing. */
      slotOf: z.optional(z.object({ queueName: z.string(), entry: z.string() })),
    }),
    z.object({
      kind: z.literal('pump'),
      accountId: name,
      lane: z.enum(laneKinds),
      name: z.string(),
      /** Unix milliseconds. */
      dueAt: z.number(),
      /** The first page whose messages' lifetimes are extended, 0 for all; undefined for no extension. */
      keepsFrom: z.optional(z.number()),
      /** Where to start in the fair line; undefined for its beginning. */
      keepsFairFrom: z.optional(z.string()),
    }),
    /** Lists and delivers a run whose start was being written, if that process died. */
    z.object({
      kind: z.literal('runStart'),
      accountId: name,
      runId: name,
      /** The message with the run's first entries, which identifies the start. */
      messageId: name,
      /** The dead letter of the failed run that this one continues, if any. */
      dlqId: z.optional(name),
    }),
    /** Finishes a run whose end was being written, if that process died. */
    z.object({
      kind: z.literal('runEnd'),
      accountId: name,
      runId: name,
      /** When the run started, Unix milliseconds. */
      createdAt: z.number(),
      /** The place of its start in its journal. */
      startSeq: place,
    }),
    /** Fails a run whose endpoint sent a permanently refused request. */
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
     * Checks a run's wait: at its deadline, to end it without its event; and soon after it was woken, because that process may
     * have died.
     */
    z.object({
      kind: z.literal('waitTimeout'),
      accountId: name,
      runId: name,
      /** The wait's place in the journal. */
      seq: place,
      /** Unix milliseconds. */
      dueAt: z.number(),
    }),
    z.object({
      kind: z.literal('bulk'),
      accountId: name,
      bulkId: name,
      step: place,
    }),
    /** Ends the time for a destination to complete an open attempt. */
    z.object({
      kind: z.literal('completionTimeout'),
      accountId: name,
      messageId: name,
      attempt: place,
      /** The end that it is for, Unix milliseconds, if it is not the attempt's first. */
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
