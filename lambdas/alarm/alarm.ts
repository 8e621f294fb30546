import type { Header } from '../shared/headers.ts';
import { alarmKinds, type AlarmKind, type AlarmFormat } from '../wire/alarms.ts';

export interface QuietHours {
  /** As `22:00`. */
  readonly from: string;
  readonly to: string;
  /** An IANA time zone. */
  readonly timezone: string;
}

export interface AlarmSettings {
  readonly url: string;
  readonly format: AlarmFormat;
  /** Only with the format `pagerduty`. */
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

export const watchedBy = (settings: AlarmSettings): ReadonlySet<AlarmKind> =>
  new Set(alarmKinds.filter((kind) => settings[kind] !== undefined && settings[kind] !== false));

export interface Found {
  readonly kind: AlarmKind;
  /** The host, the schedule, the run or the limit; empty for dead letters, or {@link others}. */
  readonly subject: string;
  readonly title: string;
  readonly detail: string;
}

export interface FoundOfKind {
  readonly found: readonly Found[];
  /** Whether there may be more. */
  readonly isCut: boolean;
}

/** The subject for further conditions of a kind that has too many to report one by one. */
export const others = '*';

/** A found condition that is not over yet. */
export interface Condition extends Found {
  /** Unix milliseconds at which it was found. */
  readonly openedAt: number;
  /** Whether its notice was sent. In quiet hours it waits for their end. */
  readonly isTold: boolean;
  /** Unix milliseconds since when incomplete checks no longer find it. */
  readonly missedSince?: number | undefined;
}

/** A notice that a condition is open, or over. */
export interface Notice extends Found {
  readonly state: 'open' | 'over';
  /** Unix milliseconds. */
  readonly openedAt: number;
  /** Unix milliseconds at which the check decided to send it. */
  readonly at: number;
}

export interface Alarms {
  readonly accountId: string;
  readonly settings: AlarmSettings;
  /** Unguessable, so that the messages' ids are, too. It changes when the messages get another destination. */
  readonly seed: string;
  /** The IP address of the request that saved the settings. */
  readonly callerIp: string;
  readonly open: readonly Condition[];
  /** The notices that a check is about to send, or did not send because it died. */
  readonly notices: readonly Notice[];
  /** When a check began to send the notices, Unix milliseconds. */
  readonly toldSince: number;
  /** Raised by each change, so that concurrent changes are noticed. */
  readonly version: number;
}
