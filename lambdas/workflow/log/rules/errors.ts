import { shownHeaders, type Header } from '../../../shared/headers.ts';

export interface FailedAttempt {
  /** 0 if there was no answer. */
  readonly status: number;
  readonly error: string;
  readonly headers: readonly Header[];
  readonly body: string;
  /** Unix milliseconds. */
  readonly time: number;
}

export const shownErrors = (failures: readonly FailedAttempt[]) =>
  failures.length === 0
    ? undefined
    : failures.map(({ error, body, headers, status, time }) => ({
        error,
        body,
        headers: shownHeaders(headers),
        status,
        time,
      }));
