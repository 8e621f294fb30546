import type { Config } from '../shared/config.ts';
import type { Header } from '../shared/headers.ts';
import * as z from 'zod/mini';

/** A request published at each time of its cron expression. */
export interface Schedule {
  readonly accountId: string;
  readonly scheduleId: string;
  /** Shows whether a fire is of an old save. */
  readonly saveId: string;
  /** Random. A fire's message ids are derived from it. */
  readonly seed: string;
  /** As given, with its zone. */
  readonly cron: string;
  readonly destination: string;
  readonly prefix: string;
  readonly config: Config;
  readonly otherHeaders: readonly Header[];
  readonly otherQuery: readonly Header[];
  readonly queueName?: string | undefined;
  /** JSON of its settings in the API: see `scheduleSettings.ts`. */
  readonly view: string;
  readonly callerIp: string;
  /** Unix milliseconds. */
  readonly createdAt: number;
  /** When its fires start to count, Unix milliseconds. */
  readonly firesFrom: number;
  readonly isPaused: boolean;
  readonly lastFire?: LastFire | undefined;
  /** The body's size and digest. */
  readonly bodyMark: string;
}

export interface LastFire {
  /** Unix milliseconds. */
  readonly time: number;
  readonly messageIds: readonly string[];
  /** Why the fire made no message. */
  readonly error?: string | undefined;
}

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
