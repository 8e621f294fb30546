import type { Config } from '../shared/config.ts';
import type { Header } from '../shared/headers.ts';
import * as z from 'zod/mini';

/** A publish request that is made again at each time of its cron expression. */
export interface Schedule {
  readonly accountId: string;
  readonly scheduleId: string;
  /** The id of this save. A schedule that is replaced gets a new one, by which fires of the old one are recognized. */
  readonly saveId: string;
  /** Random. The ids of the messages that a fire makes follow from it, so that a second fire makes the same ones. */
  readonly seed: string;
  /** As it was given, a zone included. */
  readonly cron: string;
  readonly destination: string;
  readonly prefix: string;
  readonly config: Config;
  readonly otherHeaders: readonly Header[];
  readonly otherQuery: readonly Header[];
  readonly queueName?: string | undefined;
  /** Its settings as the API shows them, as JSON: see `scheduleSettings.ts`. */
  readonly view: string;
  readonly callerIp: string;
  /** Unix milliseconds. */
  readonly createdAt: number;
  readonly isPaused: boolean;
  readonly lastFire?: LastFire | undefined;
}

/** The outcome of a schedule's last fire. */
export interface LastFire {
  /** Unix milliseconds. */
  readonly time: number;
  readonly messageIds: readonly string[];
  /** The reason why it made no message. */
  readonly error?: string | undefined;
}

const noticeShape = z.object({
  accountId: z.string(),
  scheduleId: z.string(),
  saveId: z.string(),
  /** ISO 8601. */
  time: z.string(),
});

/** The message that Scheduler sends to the queue of fires. */
export type FireNotice = Readonly<z.infer<typeof noticeShape>>;

export const formatNotice = (notice: FireNotice): string => JSON.stringify(notice);

/** @throws Error when the text is no notice */
export const parseNotice = (text: string): FireNotice => noticeShape.parse(JSON.parse(text));

/** Names a save's schedule in Scheduler. There is one for each expression that its cron translates to, counted from 0. */
export const schedulerName = (saveId: string, index: number): string => `${saveId}-${index}`;
