import { hostOf } from '../../destination/place.ts';
import { hourMs } from '../../shared/clock.ts';

export interface Timed {
  readonly url: string;
  readonly state: string;
  readonly startedAt: number;
  readonly recordedAt: number;
  /** The HTTP status; 0 if there was no answer. */
  readonly status: number;
}

export interface HostTime {
  readonly host: string;
  readonly attempts: number;
  readonly failures: number;
  /** The median in milliseconds; undefined without answers. */
  readonly p50: number | undefined;
  readonly p95: number | undefined;
  readonly p99: number | undefined;
  /** Unix milliseconds, like the following; undefined without a failure. */
  readonly firstFailure: number | undefined;
  readonly lastFailure: number | undefined;
  readonly lastSuccess: number | undefined;
  /** When the first failure since the last success was sent. Undefined if the last attempt succeeded. */
  readonly failingSince: number | undefined;
  readonly failuresInRow: number;
  /** The status of the last attempt; 0 if there was no answer. */
  readonly lastStatus: number;
}

/**
 * The smallest value that at least the given part of all values does not exceed. @param sorted in ascending
 * order
 */
const percentile = (sorted: readonly number[], part: number): number | undefined =>
  sorted[Math.max(0, Math.ceil(sorted.length * part) - 1)];

/**
 * The durations of answered attempts, in ascending order. Without an answer, the duration would be the
 * timeout.
 */
const answerTimesOf = (attempts: readonly Timed[]): readonly number[] =>
  attempts
    .flatMap(({ status, startedAt, recordedAt }) => (status === 0 ? [] : [recordedAt - startedAt]))
    .sort((one, other) => one - other);

const isSuccess = ({ state }: Timed): boolean => state === 'DELIVERED';

function hostTimeOf(host: string, attempts: readonly Timed[]): HostTime {
  const times = answerTimesOf(attempts);
  const inOrder = attempts.toSorted((one, other) => one.recordedAt - other.recordedAt);
  const failures = inOrder.filter((attempt) => !isSuccess(attempt));
  const lastSuccess = inOrder.findLast(isSuccess)?.recordedAt;
  const inRow = inOrder.slice(inOrder.findLastIndex(isSuccess) + 1);
  return {
    host,
    attempts: attempts.length,
    failures: failures.length,
    p50: percentile(times, 0.5),
    p95: percentile(times, 0.95),
    p99: percentile(times, 0.99),
    firstFailure: failures[0]?.recordedAt,
    lastFailure: failures.at(-1)?.recordedAt,
    lastSuccess,
    failingSince: inRow[0]?.startedAt,
    failuresInRow: inRow.length,
    lastStatus: inOrder.at(-1)?.status ?? 0,
  };
}

export function hostTimesOf(attempts: readonly Timed[], most: number): readonly HostTime[] {
  const byHost = new Map<string, Timed[]>();
  for (const attempt of attempts) {
    // A destination without a host, such as a function, is listed under its own name.
    const host = hostOf(attempt.url);
    const own = byHost.get(host);
    if (own === undefined) byHost.set(host, [attempt]);
    else own.push(attempt);
  }
  return [...byHost]
    .map(([host, own]) => hostTimeOf(host, own))
    .sort((one, other) => other.attempts - one.attempts || (one.host < other.host ? -1 : 1))
    .slice(0, most);
}

/**
 * A host is failing after this many consecutive failures, more than one message with three retries can cause.
 */
const fewestFailures = 5;
/** A host that was not called for this long is no longer failing. */
const failingForMs = hourMs;

/** @param at now */
export const isFailing = ({ failuresInRow, lastFailure = 0 }: HostTime, at: number): boolean =>
  failuresInRow >= fewestFailures && lastFailure >= at - failingForMs;

interface Step {
  /** Unix milliseconds at which it begins. */
  readonly from: number;
  readonly attempts: number;
  readonly failures: number;
  readonly p50: number | undefined;
  readonly p99: number | undefined;
}

/** Counts attempts in steps of equal length. @param from Unix milliseconds, like `until` */
export function stepsOf(
  attempts: readonly Timed[],
  from: number,
  until: number,
  number: number,
): readonly Step[] {
  const length = Math.max(1, (until - from) / number);
  const ended = Array.from({ length: number }, (): Timed[] => []);
  for (const attempt of attempts)
    ended[Math.min(number - 1, Math.floor((attempt.recordedAt - from) / length))]?.push(attempt);
  return ended.map((own, index) => {
    const times = answerTimesOf(own);
    return {
      from: Math.round(from + index * length),
      attempts: own.length,
      failures: own.filter((attempt) => !isSuccess(attempt)).length,
      p50: percentile(times, 0.5),
      p99: percentile(times, 0.99),
    };
  });
}
