/**
 * The limits of an account, as data: names and units are those of the account record. What holds an account to them reads
 * its own from `limitsOf`; the management API checks with the ranges what it is asked to set.
 */
import { dayMs, hourMs, secondMs } from './clock.ts';

export const plans = ['free', 'paid'] as const;
export type Plan = (typeof plans)[number];

export interface Limit {
  /** What an account has that nothing else was set for. */
  readonly free: number;
  readonly paid: number;
  /** What may be set, both inclusive. */
  readonly least: number;
  readonly most: number;
}

const kibibyte = 1_024;
const mebibyte = 1_024 * kibibyte;
const seconds = (ms: number): number => ms / secondMs;

export const limitTable = {
  /** Seconds a destination may take to answer. Lambda ends a delivery after 900 s. */
  timeout: { free: 30, paid: 840, least: 1, most: 840 },
  /** Bytes. A request reaches a function base64-encoded within 6 MB. */
  max_message_size: { free: mebibyte, paid: 4 * mebibyte, least: 1, most: 4 * mebibyte },
  max_retries: { free: 3, paid: 5, least: 0, most: 100 },
  /** Seconds. */
  max_delay: { free: seconds(7 * dayMs), paid: seconds(365 * dayMs), least: 0, most: seconds(365 * dayMs) },
  /** Messages that requests make in a day, UTC: from here on answers carry a warning. */
  max_requests_per_day: { free: 1_000, paid: 500_000, least: 0, most: 1e12 },
  /** The same: from here on they are refused. */
  max_requests_per_day_hard: { free: 10_000, paid: 5_000_000, least: 0, most: 1e13 },
  /** Requests to the API, of every kind. */
  max_requests_per_second: { free: 100, paid: 1_000, least: 1, most: 1e6 },
  /** Bytes of requests' bodies. */
  max_bandwidth_per_second: { free: 10 * mebibyte, paid: 100 * mebibyte, least: 1, most: 1e12 },
  /** Entries of the dead letter queue; the oldest make room. */
  max_dlq_size: { free: 1_000, paid: 100_000, least: 1, most: 1e7 },
  max_dlq_retention_time_milis: { free: 3 * dayMs, paid: 7 * dayMs, least: hourMs, most: 90 * dayMs },
  /** URL groups. */
  max_topics: { free: 1, paid: 100, least: 0, most: 10_000 },
  /** A group is one row of at most 400 KB: a hundred endpoints have room in it, however long their URLs are. */
  max_endpoints_per_topic: { free: 100, paid: 100, least: 1, most: 100 },
  max_schedules: { free: 10, paid: 1_000, least: 0, most: 10_000 },
  /** Bytes of a failed attempt's response that its event keeps. A row has at most 400 KB. */
  max_events_size: { free: 20_000, paid: 20_000, least: 0, most: 100_000 },
  /** Deliveries in flight at once that a flow-control key or a queue may ask for. */
  max_parallelism: { free: 10, paid: 100, least: 1, most: 10_000 },
  max_global_parallelism: { free: 10, paid: 100, least: 1, most: 100_000 },
  max_queues: { free: 10, paid: 100, least: 0, most: 10_000 },
} as const satisfies Record<string, Limit>;

export type LimitName = keyof typeof limitTable;
export type Limits = Readonly<Record<LimitName, number>>;

export const limitNames: readonly LimitName[] = [
  'timeout',
  'max_message_size',
  'max_retries',
  'max_delay',
  'max_requests_per_day',
  'max_requests_per_day_hard',
  'max_requests_per_second',
  'max_bandwidth_per_second',
  'max_dlq_size',
  'max_dlq_retention_time_milis',
  'max_topics',
  'max_endpoints_per_topic',
  'max_schedules',
  'max_events_size',
  'max_parallelism',
  'max_global_parallelism',
  'max_queues',
];
