import { randomInt } from 'node:crypto';
import type { Scope } from '../destination/destination.ts';
import type { CircuitSettings } from '../circuit/settings.ts';
import { secondMs } from '../shared/clock.ts';
import { shardCounts } from '../shared/ids.ts';
import { eachLimit, type Limits, type Plan } from '../value/limits.ts';
import type { TlsIdentity } from '../value/tlsIdentities.ts';
import { HttpError } from '../error/httpError.ts';

/** An account as it is stored, without its credentials, which are derived from the generations. */
export interface Account {
  /** A UUID. */
  readonly id: string;
  readonly customerId?: string | undefined;
  /** The e-mail address of the user who created the account. */
  readonly createdBy?: string | undefined;
  readonly plan: Plan;
  /** The region that serves the account. Only this region's replica of its row is written. */
  readonly region: string;
  readonly active: boolean;
  /** `active`, `passive` or `deleted`. */
  readonly state: string;
  /** Unix milliseconds of the last change of its state. */
  readonly stateChangedAt?: number | undefined;
  /** The ids of its named tokens; their rows have the rest. A token that is not listed here is refused. */
  readonly tokenIds?: readonly string[] | undefined;
  /** Raised by a reset of the tokens. */
  readonly tokenGeneration: number;
  /** The generation of the current signing key. The next key has the next generation. */
  readonly signingGeneration: number;
  /** The master secret of the current signing key; see `signingKeysOf`. */
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
  /** Whether its usage is exported as separate metrics. */
  readonly prometheus: boolean;
  readonly enterprise?: { readonly enabled: boolean } | undefined;
  /** Partitions for its messages and dead letters. Never lowered, because rows stay where they are. */
  readonly shards: number;
  /** Whether the account's region is being drained: the account accepts nothing new and finishes the rest. */
  readonly isDraining?: boolean | undefined;
  /** Undefined if circuits of hosts never hold back its messages. */
  readonly circuit?: CircuitSettings | undefined;
  /** ARN patterns of the destinations in AWS that its messages may go to, if any. */
  readonly destinations?: readonly string[] | undefined;
  /** ARN patterns of the Lambda functions that its messages may go to, if any. */
  readonly lambdaDestinations?: readonly string[] | undefined;
  /** Names of certificates for TLS with its destinations, if any. */
  readonly tlsIdentities?: readonly TlsIdentity[] | undefined;
  /** Statuses that fail its messages at once, in the form of `value/statusList.ts`. */
  readonly failOn?: string | undefined;
  /** Gets reports of permanent failures that have no other failure callback. */
  readonly failureCallback?: string | undefined;
  /**
   * Where the token of this request may send messages; undefined for everywhere. It belongs to the request and is not stored, so
   * all work for the request is restricted to it.
   */
  readonly scope?: Scope | undefined;
  /** Seconds. The longest timeout of this deployment. It belongs to the process that read the account and is not stored. */
  readonly longestTimeout?: number | undefined;
  /** Raised by each change, so that concurrent changes notice each other. */
  readonly version: number;
}

/**
 * Chooses an account's first generation at random. The id may have belonged to a deleted account whose row is gone, so that its
 * generations are unknown. A random start keeps the tokens and signing keys of the two apart, even after many rotations.
 */
const firstGeneration = (): number => randomInt(1, 2 ** 48);

export const newAccount = (
  account: Pick<Account, 'id' | 'plan' | 'region' | 'createdAt'> & Partial<Account>,
): Account => ({
  active: true,
  state: 'active',
  tokenGeneration: firstGeneration(),
  signingGeneration: firstGeneration(),
  limits: {},
  budget: 0,
  prodPack: false,
  prometheus: false,
  shards: shardCounts.usual,
  version: 1,
  ...account,
});

/** The default hard daily limit is ten times the soft one. */
const hardOverSoft = 10;

/** Merged limits, by the account's own limits. A request needs them many times. */
const knownLimits: Readonly<Record<Plan, WeakMap<Account['limits'], Limits>>> = {
  free: new WeakMap(),
  paid: new WeakMap(),
};

type Limited = Pick<Account, 'plan' | 'limits' | 'longestTimeout'>;

/**
 * The limits of an account: its own, or else its plan's. A timeout above this deployment's maximum is lowered: it was set in a
 * region with a higher maximum, or before the setting was lowered.
 */
export function limitsOf(account: Limited): Limits {
  const { plan, limits: own } = account;
  const known = knownLimits[plan].get(own) ?? mergedLimits(account);
  knownLimits[plan].set(own, known);
  return known;
}

function mergedLimits({ plan, limits: own, longestTimeout = Infinity }: Limited): Limits {
  const limits = eachLimit((name, limit) => own[name] ?? limit[plan]);
  return {
    ...limits,
    timeout: Math.min(limits.timeout, longestTimeout),
    max_requests_per_day_hard: own.max_requests_per_day_hard ?? hardOverSoft * limits.max_requests_per_day,
  };
}

/**
 * For an account that may send more requests a second, each process reads its row once a second, not for each request: DynamoDB
 * allows 3,000 reads of one row in a second, and a limit that many processes share is briefly exceeded.
 */
const manyRequestsPerSecond = 2_000;

/** Whether an account may send so many requests that its row cannot be read for each. */
export const allowsManyRequests = (account: Pick<Account, 'plan' | 'limits'>): boolean =>
  limitsOf(account).max_requests_per_second > manyRequestsPerSecond;

/** An account that may send more messages a day gets more partitions: see docs/scale.md. */
const manyMessagesPerDay = 50_000_000;

/** The partitions that an account needs for its limits. An account that already has more keeps them. */
export function shardsFor(account: Pick<Account, 'plan' | 'limits' | 'shards'>): number {
  const isWide =
    allowsManyRequests(account) || limitsOf(account).max_requests_per_day_hard > manyMessagesPerDay;
  return Math.max(account.shards, isWide ? shardCounts.wide : shardCounts.usual);
}

/** Retries of a message whose request does not set them. */
const planRetries: Record<Plan, number> = { free: 3, paid: 5 };

export const defaultRetries = (account: Account): number =>
  Math.min(planRetries[account.plan], limitsOf(account).max_retries);

/** Whether an account's tokens work and its messages are delivered. */
export const isServed = ({ active, state }: Account): boolean => active && state === 'active';

export const isDeleted = ({ deletedAt }: Account): boolean => deletedAt !== undefined;

/** A worker uses an account for this long (ms) before it reads it again. After that each worker knows of a change. */
export const accountLifetimeMs = 10 * secondMs;

/**
 * Refuses new messages, schedules and runs while the account's region is being drained. Work that continues something, such as a
 * step of a run or a retry of a dead letter, is accepted, because it must end here.
 *
 * @throws HttpError 503
 */
export function refuseWhileDraining({ isDraining, region }: Pick<Account, 'isDraining' | 'region'>): void {
  if (isDraining !== true) return;
  throw new HttpError(
    503,
    'region_draining',
    `The region ${region} is being emptied and takes nothing new; nothing was accepted.`,
  );
}
