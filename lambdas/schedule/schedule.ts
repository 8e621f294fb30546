import type { Config } from '../shared/config.ts';
import type { Header } from '../shared/headers.ts';
import * as z from 'zod/mini';

/** A publish request that is made again at each time of its cron expression. */
export interface Schedule {
  readonly accountId: string;
  readonly scheduleId: string;
  /** The id of this save. A schedule that is replaced gets a new one, by which fires of the old one are recognized. */
  readonly saveId: string;
  /** A random text. The ids of a fire's messages follow from it, so that a second fire makes the same ones. */
  readonly seed: string;
  /** The expression as it was given, with its zone. */
  readonly cron: string;
  readonly destination: string;
  readonly prefix: string;
  readonly config: Config;
  readonly otherHeaders: readonly Header[];
  readonly otherQuery: readonly Header[];
  readonly queueName?: string | undefined;
  /** JSON of its settings as the API shows them: see `scheduleSettings.ts`. */
  readonly view: string;
  readonly callerIp: string;
  /** Unix milliseconds. */
  readonly createdAt: number;
  /** Unix milliseconds from which its cron expression counts. Schedules of older releases have none. */
  readonly firesFrom?: number | undefined;
  readonly isPaused: boolean;
  readonly lastFire?: LastFire | undefined;
  /** The body's size and digest; undefined in rows of older releases. */
  readonly bodyMark?: string | undefined;
}

/** The outcome of a schedule's last fire. */
export interface LastFire {
  /** Unix milliseconds. */
  readonly time: number;
  readonly messageIds: readonly string[];
  /** The reason why the fire made no message. */
  readonly error?: string | undefined;
}

const noticeShape = z.object({
  accountId: z.string(),
  scheduleId: z.string(),
  saveId: z.string(),
  /** ISO 8601. */
  time: z.string(),
  /**
   * Undefined for a fire by Scheduler. `missed` makes up for a fire that was missed. `look` is no fire: what was missed before its time
   * is looked for.
   */
  kind: z.optional(z.enum(['missed', 'look'])),
});

/** The message that Scheduler sends to the queue of fires. */
export type FireNotice = Readonly<z.infer<typeof noticeShape>>;

export const formatNotice = (notice: FireNotice): string => JSON.stringify(notice);

/** @throws Error for a text that is no notice */
export const parseNotice = (text: string): FireNotice => noticeShape.parse(JSON.parse(text));

/** Names a save's schedule in Scheduler. There is one for each expression that its cron translates to, counted from 0. */
export const schedulerName = (saveId: string, index: number): string => `${saveId}-${index}`;
