import { shownHeaders, type Header, type HeaderLists } from '../../../shared/headers.ts';

/** An attempt that failed. */
export interface FailedAttempt {
  /** 0 when there was no answer. */
  readonly status: number;
  /** Why it failed, in words. */
  readonly error: string;
  readonly headers: readonly Header[];
  readonly body: string;
  /** Unix milliseconds. */
  readonly time: number;
}

/** An attempt that failed, as the log shows it. */
export interface ShownError {
  readonly error: string;
  readonly body: string;
  readonly headers: HeaderLists;
  readonly status: number;
  readonly time: number;
}

/** Shows failed attempts; undefined where there are none. */
export const shownErrors = (failures: readonly FailedAttempt[]): readonly ShownError[] | undefined =>
  failures.length === 0
    ? undefined
    : failures.map(({ error, body, headers, status, time }) => ({
        error,
        body,
        headers: shownHeaders(headers),
        status,
        time,
      }));
