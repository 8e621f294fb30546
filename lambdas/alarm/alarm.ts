/** The alarms of an account: where they are told, which conditions are watched, and which are open. */
import type { Header } from '../shared/headers.ts';
import { alarmKinds, type AlarmKind, type AlarmFormat } from '../wire/alarms.ts';

export interface QuietHours {
  /** As `22:00`. */
  readonly from: string;
  readonly to: string;
  /** A name of the IANA time zone database. */
  readonly timezone: string;
}

export interface AlarmSettings {
  readonly url: string;
  readonly format: AlarmFormat;
  /** Present with the format `pagerduty`, and with no other. */
  readonly routingKey?: string | undefined;
  /** Names in lower case. */
  readonly headers: readonly Header[];
  readonly deadLetters?: { readonly above: number; readonly minutes: number } | undefined;
  readonly hosts?: boolean | undefined;
  readonly schedules?: boolean | undefined;
  readonly runs?: boolean | undefined;
  /** Percent. */
  readonly limits?: number | undefined;
  readonly quietHours?: QuietHours | undefined;
}

/** The kinds that are watched. */
export const watchedBy = (settings: AlarmSettings): ReadonlySet<AlarmKind> =>
  new Set(alarmKinds.filter((kind) => settings[kind] !== undefined && settings[kind] !== false));

/** A condition that a look has found. */
export interface Found {
  readonly kind: AlarmKind;
  /** The host, the schedule, the run or the limit; empty for dead letters, and {@link others}. */
  readonly subject: string;
  readonly title: string;
  readonly detail: string;
}

/** The conditions of one kind that a look has found. */
export interface FoundOfKind {
  readonly found: readonly Found[];
  /** Whether there may be more. */
  readonly isCut: boolean;
}

/** The subject for all conditions of a kind if there are too many to report one by one. */
export const others = '*';

/** A condition that was found, and is not over yet. */
export interface Condition extends Found {
  /** Unix milliseconds at which it was found. */
  readonly openedAt: number;
  /** Whether it was told: in quiet hours it waits for their end. */
  readonly isTold: boolean;
  /** Unix milliseconds since when looks miss it that could not look at everything. */
  readonly missedSince?: number | undefined;
}

/** One thing to tell: that a condition is open, or over. */
export interface Notice extends Found {
  readonly state: 'open' | 'over';
  /** Unix milliseconds. */
  readonly openedAt: number;
  /** Unix milliseconds at which the look decided to tell it. */
  readonly at: number;
}

/** The row of an account's alarms. */
export interface Alarms {
  readonly accountId: string;
  readonly settings: AlarmSettings;
  /** Unguessable, so that the ids of messages are too. It is new where messages go elsewhere. */
  readonly seed: string;
  /** The IP address of the request that saved the settings. */
  readonly callerIp: string;
  readonly open: readonly Condition[];
  /** The notices that a look is about to send, or did not send because it died. */
  readonly notices: readonly Notice[];
  /** Unix milliseconds at which a look began to tell them. */
  readonly toldSince: number;
  /** Raised by each change, so that of two changes at once one is refused. */
  readonly version: number;
}
