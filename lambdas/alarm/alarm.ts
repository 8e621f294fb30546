import * as z from 'zod/mini';
import type { Readable } from '../options/option.ts';
import { headerPairs } from '../table/attributes.ts';
import { alarmFormats, alarmKinds, storedKinds, type AlarmKind } from '../wire/alarms.ts';

const quietHours = z.object({
  /** Such as `22:00`. */
  from: z.string(),
  to: z.string(),
  /** An IANA time zone. */
  timezone: z.string(),
});
export type QuietHours = Readable<z.infer<typeof quietHours>>;

const alarmSettings = z.object({
  url: z.string(),
  format: z.enum(alarmFormats),
  /** Set if the format is `pagerduty`. */
  routingKey: z.optional(z.string()),
  /** Names in lower case. */
  headers: headerPairs,
  ...storedKinds,
  quietHours: z.optional(quietHours),
});
export type AlarmSettings = Readable<z.infer<typeof alarmSettings>>;

export const watchedBy = (settings: AlarmSettings): ReadonlySet<AlarmKind> =>
  new Set(alarmKinds.filter((kind) => settings[kind] !== undefined && settings[kind] !== false));

const found = z.object({
  kind: z.enum(alarmKinds),
  /** The host, schedule, run or limit; empty for dead letters, or {@link others}. */
  subject: z.string(),
  title: z.string(),
  detail: z.string(),
});
export type Found = Readable<z.infer<typeof found>>;

export interface FoundOfKind {
  readonly found: readonly Found[];
  /** Whether there may be more conditions. */
  readonly isCut: boolean;
}

/** The subject for further conditions of a kind, if there are too many to report each. */
export const others = '*';

/** A condition that was found and is not over yet. */
const condition = z.object({
  ...found.shape,
  /** Unix milliseconds at which it was found. */
  openedAt: z.number(),
  /** Whether its notice was sent. Notices are not sent in quiet hours. */
  isTold: z.boolean(),
  /** Since when unfinished checks no longer find it. */
  missedSince: z.optional(z.number()),
});
export type Condition = Readable<z.infer<typeof condition>>;

/** A notice that a condition is open, or over. */
const notice = z.object({
  ...found.shape,
  state: z.enum(['open', 'over']),
  openedAt: z.number(),
  /** Unix milliseconds at which the check decided to send it. */
  at: z.number(),
});
export type Notice = Readable<z.infer<typeof notice>>;

export const alarms = z.object({
  accountId: z.string(),
  settings: alarmSettings,
  /**
   * Random, so that the ids of messages cannot be guessed. It changes when the messages get another
   * destination.
   */
  seed: z.string(),
  /** The IP address of the request that saved the settings. */
  callerIp: z.string(),
  open: z.array(condition),
  /** The notices that a check has not sent yet. If it has died, another check sends them. */
  notices: z.array(notice),
  /** When a check began to send the notices. */
  toldSince: z.number(),
  /** Incremented by each change, so that concurrent changes are noticed. */
  version: z.number(),
});
export type Alarms = Readable<z.infer<typeof alarms>>;
