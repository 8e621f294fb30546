import { secondMs } from './clock.ts';
import { limitTable, type Limits, type Plan } from './limits.ts';

/** An account as it is stored: without its credentials, which are derived from the generations. */
export interface Account {
  /** A UUID. */
  readonly id: string;
  readonly customerId?: string | undefined;
  /** An e-mail address. */
  readonly createdBy?: string | undefined;
  readonly plan: Plan;
  /** Where it is served, and whose replica of its row is written. */
  readonly region: string;
  readonly active: boolean;
  /** `active`, `passive` or `deleted`. */
  readonly state: string;
  /** Unix milliseconds of the last change of its state. */
  readonly stateChangedAt?: number | undefined;
  /** Raised by a reset of the tokens. */
  readonly tokenGeneration: number;
  /** The generation of the current signing key; the next key is one further. */
  readonly signingGeneration: number;
  /** Which master secret the current signing key is derived from; see `signingKeysOf`. */
  readonly signingSecret?: string | undefined;
  /** Unix milliseconds. */
  readonly createdAt: number;
  /** Unix milliseconds. */
  readonly planUpgradedAt?: number | undefined;
  /** Unix milliseconds. */
  readonly deletedAt?: number | undefined;
  /** Limits that differ from the plan's. */
  readonly limits: Partial<Limits>;
  /** Dollars a month; 0 for no limit. */
  readonly budget: number;
  readonly reservedType?: string | undefined;
  /** Dollars. */
  readonly reservedPrice?: number | undefined;
  readonly prodPack: boolean;
  /** Whether its usage is exported as metrics of its own. */
  readonly prometheus: boolean;
  readonly enterprise?: { readonly enabled: boolean } | undefined;
  /** Raised by every change. */
  readonly version: number;
}

/** What a new account has that nobody chose. */
export const newAccount = (
  account: Pick<Account, 'id' | 'plan' | 'region' | 'createdAt'> & Partial<Account>,
): Account => ({
  active: true,
  state: 'active',
  tokenGeneration: 1,
  signingGeneration: 1,
  limits: {},
  budget: 0,
  prodPack: false,
  prometheus: false,
  version: 1,
  ...account,
});

/** How many times the soft daily limit the hard one is, where none is set. */
const hardOverSoft = 10;

/** The limits that hold for an account: those set for it, else its plan's. */
export function limitsOf({ plan, limits }: Pick<Account, 'plan' | 'limits'>): Limits {
  const set = (name: keyof Limits): number => limits[name] ?? limitTable[name][plan];
  return {
    timeout: set('timeout'),
    max_message_size: set('max_message_size'),
    max_retries: set('max_retries'),
    max_delay: set('max_delay'),
    max_requests_per_day: set('max_requests_per_day'),
    max_requests_per_day_hard: limits.max_requests_per_day_hard ?? hardOverSoft * set('max_requests_per_day'),
    max_requests_per_second: set('max_requests_per_second'),
    max_bandwidth_per_second: set('max_bandwidth_per_second'),
    max_dlq_size: set('max_dlq_size'),
    max_dlq_retention_time_milis: set('max_dlq_retention_time_milis'),
    max_topics: set('max_topics'),
    max_endpoints_per_topic: set('max_endpoints_per_topic'),
    max_schedules: set('max_schedules'),
    max_events_size: set('max_events_size'),
    max_parallelism: set('max_parallelism'),
    max_global_parallelism: set('max_global_parallelism'),
    max_queues: set('max_queues'),
  };
}

/** Retries of a message that does not say how many it wants. */
const planRetries: Record<Plan, number> = { free: 3, paid: 5 };

export const defaultRetries = (account: Account): number =>
  Math.min(planRetries[account.plan], limitsOf(account).max_retries);

/** Whether its tokens work and its messages are delivered. */
export const isServed = ({ active, state }: Account): boolean => active && state === 'active';

export const isDeleted = ({ deletedAt }: Account): boolean => deletedAt !== undefined;

/** How long a worker may go on with what it last read of an account. Unix milliseconds. */
export const accountLifetimeMs = 10 * secondMs;
