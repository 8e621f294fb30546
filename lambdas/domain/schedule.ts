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

/** What Scheduler sends to the queue of fires. */
export interface FireNotice {
  readonly accountId: string;
  readonly scheduleId: string;
  readonly saveId: string;
  /** ISO 8601. */
  readonly time: string;
}
