import { dayMs, secondMs } from './clock.ts';

export type Plan = 'free' | 'paid';

/** What an account may do. Names and units are those of the account record. */
export interface Limits {
  /** Seconds a destination may take to answer. */
  readonly timeout: number;
  /** Bytes. */
  readonly max_message_size: number;
  readonly max_retries: number;
  /** Seconds. */
  readonly max_delay: number;
  readonly max_dlq_retention_time_milis: number;
  /** Entries of the dead letter queue; the oldest make room. */
  readonly max_dlq_size: number;
  /** URL groups. */
  readonly max_topics: number;
  readonly max_endpoints_per_topic: number;
  readonly max_schedules: number;
}

const mebibyte = 1_048_576;

const planLimits: Record<Plan, Limits> = {
  free: {
    timeout: 30,
    max_message_size: mebibyte,
    max_retries: 3,
    max_delay: (7 * dayMs) / secondMs,
    max_dlq_retention_time_milis: 3 * dayMs,
    max_dlq_size: 1_000,
    max_topics: 1,
    max_endpoints_per_topic: 100,
    max_schedules: 10,
  },
  paid: {
    timeout: 840,
    max_message_size: 4 * mebibyte,
    max_retries: 5,
    max_delay: (365 * dayMs) / secondMs,
    max_dlq_retention_time_milis: 7 * dayMs,
    max_dlq_size: 100_000,
    max_topics: 100,
    max_endpoints_per_topic: 100,
    max_schedules: 1_000,
  },
};

/** Retries of a message that does not say how many it wants. */
const planRetries: Record<Plan, number> = { free: 3, paid: 5 };

/** An account as it is stored: without its credentials, which are derived from the generations. */
export interface Account {
  readonly id: string;
  readonly customerId: string | undefined;
  readonly plan: Plan;
  readonly region: string;
  readonly active: boolean;
  readonly state: string;
  /** Raised by a reset of the tokens. */
  readonly tokenGeneration: number;
  /** The generation of the current signing key; the next key is one further. */
  readonly signingGeneration: number;
  /** Unix milliseconds. */
  readonly createdAt: number;
  /** Limits that differ from the plan's. */
  readonly limits: Partial<Limits>;
}

export const limitsOf = (account: Account): Limits => ({ ...planLimits[account.plan], ...account.limits });

export const defaultRetries = (account: Account): number =>
  Math.min(planRetries[account.plan], limitsOf(account).max_retries);
