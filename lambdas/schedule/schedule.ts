import * as z from 'zod/mini';
import { storedBody } from '../message/message.ts';
import type { Readable } from '../options/option.ts';
import { config, headerPairs } from '../table/attributes.ts';

const lastFire = z.object({
  /** Unix milliseconds. */
  time: z.number(),
  messageIds: z.array(z.string()),
  /** Why the fire made no message. */
  error: z.optional(z.string()),
});
export type LastFire = Readable<z.infer<typeof lastFire>>;

/** A request published at each time of its cron expression. */
export const storedSchedule = z.object({
  accountId: z.string(),
  scheduleId: z.string(),
  /** Shows whether a fire is of an old save. */
  saveId: z.string(),
  /** Random. A fire's message ids are derived from it. */
  seed: z.string(),
  /** As given, with its zone. */
  cron: z.string(),
  destination: z.string(),
  prefix: z.string(),
  config,
  otherHeaders: headerPairs,
  otherQuery: headerPairs,
  queueName: z.optional(z.string()),
  /** JSON of its settings in the API: see `scheduleSettings.ts`. */
  view: z.string(),
  callerIp: z.string(),
  /** Unix milliseconds. */
  createdAt: z.number(),
  /** When its fires start to count, Unix milliseconds. */
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
   * Undefined for Scheduler's fires. `missed`: a missed fire. `look`: not a fire, but a search for those missed before its
   * time.
   */
  kind: z.optional(z.enum(['missed', 'look'])),
});

/** Scheduler's message to the queue of fires. */
export type FireNotice = Readonly<z.infer<typeof noticeShape>>;

export const formatNotice = (notice: FireNotice): string => JSON.stringify(notice);

/** @throws Error for an invalid notice */
export const parseNotice = (text: string): FireNotice => noticeShape.parse(JSON.parse(text));

/** Each translated expression has a schedule in Scheduler, counted from 0. */
export const schedulerName = (saveId: string, index: number): string => `${saveId}-${index}`;
