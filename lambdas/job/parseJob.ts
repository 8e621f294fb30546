/** Separate, so that functions that only send jobs do not load it. */
import * as z from 'zod/mini';
import { laneKinds, deliveryQueues, type Job } from './job.ts';

const name = z.string().check(z.minLength(1));

const jobShape = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('pump'),
    accountId: name,
    lane: z.enum(laneKinds),
    name: z.string(),
    dueAt: z.number(),
    keepsFrom: z.optional(z.number()),
    keepsFairFrom: z.optional(z.string()),
  }),
  z.object({
    kind: z.literal('runStart'),
    accountId: name,
    runId: name,
    messageId: name,
    dlqId: z.optional(name),
  }),
  z.object({
    kind: z.literal('runEnd'),
    accountId: name,
    runId: name,
    createdAt: z.number(),
    startSeq: z.int().check(z.nonnegative()),
  }),
  z.object({
    kind: z.literal('runRefused'),
    accountId: name,
    runId: name,
    startSeq: z.int().check(z.nonnegative()),
    code: name,
    reason: z.string(),
  }),
  z.object({
    kind: z.literal('waitTimeout'),
    accountId: name,
    runId: name,
    seq: z.int().check(z.nonnegative()),
    dueAt: z.number(),
  }),
  z.object({
    kind: z.literal('completionTimeout'),
    accountId: name,
    messageId: name,
    attempt: z.int().check(z.nonnegative()),
  }),
  z.object({
    kind: z.literal('attempt'),
    accountId: name,
    messageId: name,
    attempt: z.int().check(z.nonnegative()),
    queue: z.enum(deliveryQueues),
    host: z.optional(z.string()),
    admittedTo: z.optional(
      z.object({ lane: z.enum(laneKinds), name: z.string(), ticket: z.string(), sentAt: z.number() }),
    ),
    madeAt: z.optional(z.number()),
    looks: z.optional(z.int().check(z.nonnegative())),
    isFollowUp: z.optional(z.boolean()),
    followUpId: z.optional(name),
    change: z.optional(z.string()),
    slotOf: z.optional(z.object({ queueName: z.string(), entry: z.string() })),
  }),
]);

/** @throws Error for an invalid job */
export const parseJob = (text: string): Job => jobShape.parse(JSON.parse(text));
