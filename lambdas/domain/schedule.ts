import * as z from 'zod/mini';
import type { Config, Header } from './dialect.ts';

/** A request that is published again whenever its cron expression triggers. */
export interface Schedule {
  readonly accountId: string;
  readonly scheduleId: string;
  /** New with each overwriting: fires of what was there before are known by theirs. */
  readonly saveId: string;
  /** Random; from it follow the ids of the messages that fires make. */
  readonly seed: string;
  /** As it was given, a zone included. */
  readonly cron: string;
  readonly destination: string;
  readonly prefix: string;
  readonly config: Config;
  readonly otherHeaders: readonly Header[];
  readonly otherQuery: readonly Header[];
  readonly queueName?: string | undefined;
  /** Its settings as the API shows them: JSON. */
  readonly view: string;
  readonly callerIp: string;
  /** Unix milliseconds. */
  readonly createdAt: number;
  readonly isPaused: boolean;
  readonly lastFire?: LastFire | undefined;
}

/** What came of a schedule's last fire. */
export interface LastFire {
  /** Unix milliseconds. */
  readonly time: number;
  readonly messageIds: readonly string[];
  /** Why it made no message. */
  readonly error?: string | undefined;
}

const noticeShape = z.object({
  accountId: z.string(),
  scheduleId: z.string(),
  saveId: z.string(),
  /** ISO 8601. */
  time: z.string(),
});

/** What Scheduler sends to the queue of fires. */
export type FireNotice = Readonly<z.infer<typeof noticeShape>>;

export const formatNotice = (notice: FireNotice): string => JSON.stringify(notice);

/** @throws when it is no notice */
export const parseNotice = (text: string): FireNotice => noticeShape.parse(JSON.parse(text));

/** The name, in Scheduler, of what fires a save: one for each expression that its cron translates to, counted from 0. */
export const schedulerName = (saveId: string, index: number): string => `${saveId}-${index}`;
