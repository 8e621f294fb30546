import * as z from 'zod/mini';
import { storedBody } from '../message/message.ts';
import type { Readable } from '../options/option.ts';
import { config, headerPairs } from '../table/attributes.ts';

const lastFire = z.object({
  time: z.number(),
  messageIds: z.array(z.string()),
  /** Set if the fire made no message. */
  error: z.optional(z.string()),
});
export type LastFire = Readable<z.infer<typeof lastFire>>;

/** A request that is published at each time of a cron expression. */
export const storedSchedule = z.object({
  accountId: z.string(),
  scheduleId: z.string(),
  /** Identifies a save of the schedule. Fires of older saves are ignored. */
  saveId: z.string(),
  /** Random. The ids of a fire's messages are derived from it. */
  seed: z.string(),
  /** As given, with its zone. */
  cron: z.string(),
  destination: z.string(),
  prefix: z.string(),
  config,
  otherHeaders: headerPairs,
  otherQuery: headerPairs,
  queueName: z.optional(z.string()),
  /** The settings in JSON, as the API shows them: see `scheduleSettings.ts`. */
  view: z.string(),
  callerIp: z.string(),
  createdAt: z.number(),
  /** Fires before this time are ignored. */
  firesFrom: z.number(),
  isPaused: z.boolean(),
  lastFire: z.optional(lastFire),
  /** The body's size and digest. */
  bodyMark: z.string(),
  body: storedBody,
});
export type StoredSchedule = Readable<z.infer<typeof storedSchedule>>;
export type Schedule = Omit<StoredSchedule, 'body'>;

const noticeShape = z.object({
  accountId: z.string(),
  scheduleId: z.string(),
  saveId: z.string(),
  /** ISO 8601. */
  time: z.string(),
  /**
   * Undefined for fires that Scheduler sends. `missed`: a missed fire. `look`: not a fire, but a request to
   * look for fires that were missed before its time.
   */
  kind: z.optional(z.enum(['missed', 'look'])),
});

/** Scheduler's message to the queue of fires. */
export type FireNotice = Readonly<z.infer<typeof noticeShape>>;

export const formatNotice = (notice: FireNotice): string => JSON.stringify(notice);

/** @throws Error for an invalid notice */
export const parseNotice = (text: string): FireNotice => noticeShape.parse(JSON.parse(text));

/** The name of a schedule in Scheduler. If there are two expressions, each has one, counted from 0. */
export const schedulerName = (saveId: string, index: number): string => `${saveId}-${index}`;
