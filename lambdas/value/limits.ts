/**
 * All limits of accounts, with defaults and ranges: for stored rows, the account record, and the management
 * API.
 */
import { longestTimeoutSeconds } from '../aws/resources.ts';
import { dayMs, hourMs, secondMs } from '../shared/clock.ts';

export const plans = ['free', 'paid'] as const;
export type Plan = (typeof plans)[number];

export interface Limit {
  /** The default for accounts with the plan `free`. */
  readonly free: number;
  readonly paid: number;
  /** The allowed range, both ends included. */
  readonly least: number;
  readonly most: number;
}

const kibibyte = 1_024;
const mebibyte = 1_024 * kibibyte;
const seconds = (ms: number): number => ms / secondMs;

export const limitTable = {
  timeout: {
    free: 30,
    paid: 840,
    least: 1,
    // The most on one machine. A deployment on AWS allows less: see `longestTimeoutSeconds` in
    // `aws/resources.ts`.
    most: longestTimeoutSeconds.machine,
  },
  max_message_size: {
    free: mebibyte,
    paid: 4 * mebibyte,
    least: 1,
    // A request reaches a function base64-encoded, with at most 6 MB.
    most: 4 * mebibyte,
  },
  max_retries: {
    free: 3,
    paid: 5,
    least: 0,
    most: 100,
  },
  max_delay: {
    free: seconds(7 * dayMs),
    paid: seconds(365 * dayMs),
    least: 0,
    most: seconds(365 * dayMs),
  },
  max_requests_per_day: {
    free: 1_000,
    paid: 500_000,
    least: 0,
    most: 1e12,
  },
  /** If only the soft limit above is set, this one is derived from it: see `limitsOf`. */
  max_requests_per_day_hard: {
    free: 10_000,
    paid: 5_000_000,
    least: 0,
    most: 1e13,
  },
  max_requests_per_second: {
    free: 100,
    paid: 1_000,
    least: 1,
    most: 1e6,
  },
  max_bandwidth_per_second: {
    free: 10 * mebibyte,
    paid: 100 * mebibyte,
    least: 1,
    most: 1e12,
  },
  max_dlq_size: {
    free: 1_000,
    paid: 100_000,
    least: 1,
    // If the limit is reached, new dead letters replace the oldest.
    most: 1e7,
  },
  max_dlq_retention_time_milis: {
    free: 3 * dayMs,
    paid: 7 * dayMs,
    least: hourMs,
    most: 90 * dayMs,
  },
  log_retention_days: {
    free: 7,
    paid: 7,
    least: 1,
    most: 90,
  },
  max_topics: {
    free: 1,
    paid: 100,
    least: 0,
    most: 10_000,
  },
  max_endpoints_per_topic: {
    free: 100,
    paid: 100,
    least: 1,
    // A group is one row of at most 400 KB, with room for a hundred endpoints of the greatest length.
    most: 100,
  },
  max_schedules: {
    free: 10,
    paid: 1_000,
    least: 0,
    most: 10_000,
  },
  max_events_size: {
    free: 20_000,
    paid: 20_000,
    least: 0,
    // An attempt's row has at most 400 KB.
    most: 100_000,
  },
  /** Each kilobyte costs a write unit for each delivery. */
  max_delivered_answer_size: {
    free: 0,
    paid: 0,
    least: 0,
    most: 100_000,
  },
  max_parallelism: {
    free: 10,
    paid: 100,
    least: 1,
    most: 10_000,
  },
  max_global_parallelism: {
    free: 10,
    paid: 100,
    least: 1,
    most: 100_000,
  },
  max_queues: {
    free: 10,
    paid: 100,
    least: 0,
    most: 10_000,
  },
} as const satisfies Record<string, Limit>;

export type LimitName = keyof typeof limitTable;
export type PerLimit<T> = Readonly<Record<LimitName, T>>;
export type Limits = PerLimit<number>;

const isLimitName = (name: string): name is LimitName => Object.hasOwn(limitTable, name);

export const limitNames: readonly LimitName[] = Object.keys(limitTable).filter(isLimitName);

export const eachLimit = <T>(make: (name: LimitName, limit: Limit) => T): PerLimit<T> =>
  Object.fromEntries(limitNames.map((name) => [name, make(name, limitTable[name])])) as PerLimit<T>;
