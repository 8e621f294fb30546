import { randomInt } from 'node:crypto';
import type { Scope } from '../destination/destination.ts';
import type { CircuitSettings } from '../circuit/settings.ts';
import { secondMs } from '../shared/clock.ts';
import { shardCounts } from '../shared/ids.ts';
import { eachLimit, type Limits, type Plan } from '../value/limits.ts';
import type { TlsIdentity } from '../value/tlsIdentities.ts';
import { HttpError } from '../error/httpError.ts';

/** An account as it is stored: without its credentials, which are derived from the generations. */
export interface Account {
  /** A UUID. */
  readonly id: string;
  readonly customerId?: string | undefined;
  /** The e-mail address of the user who created the account. */
  readonly createdBy?: string | undefined;
  readonly plan: Plan;
  /** The region that serves it: its row is written in this region's replica only. */
  readonly region: string;
  readonly active: boolean;
  /** `active`, `passive` or `deleted`. */
  readonly state: string;
  /** Unix milliseconds of the last change of its state. */
  readonly stateChangedAt?: number | undefined;
  /** The ids of its named tokens; their rows have the rest. A token whose id is not here is refused. */
  readonly tokenIds?: readonly string[] | undefined;
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
  /** Partitions that the rows of its messages and dead letters are spread over; never lowered, as rows stay where they are. */
  readonly shards: number;
  /** Whether the account's region is being emptied: the account takes nothing new, and finishes what it has. */
  readonly isDraining?: boolean | undefined;
  /** Whether and how circuits of hosts hold back its messages; undefined where they do not. */
  readonly circuit?: CircuitSettings | undefined;
  /** Patterns of the ARNs of destinations in AWS that its messages may go to; undefined where there are none. */
  readonly destinations?: readonly string[] | undefined;
  /** Patterns of the ARNs of Lambda functions that its messages may go to; undefined where there are none. */
  readonly lambdaDestinations?: readonly string[] | undefined;
  /** Names of certificates for TLS with its destinations, if there are any. */
  readonly tlsIdentities?: readonly TlsIdentity[] | undefined;
  /** Statuses that fail its messages at once, as `value/statusList.ts` writes them. */
  readonly failOn?: string | undefined;
  /** The URL that is told of what fails for good without a failure callback of its own. */
  readonly failureCallback?: string | undefined;
  /**
   * Where the token of this request may send messages; undefined where that is everywhere. It belongs to the request and is not stored:
   * so all that a request does for its account is held to it.
   */
  readonly scope?: Scope | undefined;
  /** The longest timeout that this deployment waits for, in seconds. It belongs to the process that read the account and is not stored. */
  readonly longestTimeout?: number | undefined;
  /** Raised by each change, so that of two changes at once one sees the other. */
  readonly version: number;
}

/**
 * Chooses an account's first generation, at random. An account may be made under the id of one that was deleted, whose row
 * is gone by then, so that nothing can count on from it: a random start keeps the tokens and signing keys of the two apart,
 * however often each is rotated.
 */
const firstGeneration = (): number => randomInt(1, 2 ** 48);

/** Makes a new account; what is not given has its default. */
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

/** The hard daily limit is ten times the soft one, where no hard one is set. */
const hardOverSoft = 10;

/** The merged limits by the limits that are set for an account. A request asks for them many times. */
const knownLimits: Readonly<Record<Plan, WeakMap<Account['limits'], Limits>>> = {
  free: new WeakMap(),
  paid: new WeakMap(),
};

/** The part of an account that decides its limits. */
type Limited = Pick<Account, 'plan' | 'limits' | 'longestTimeout'>;

/**
 * The limits that hold for an account: those set for it, else its plan's. A timeout that this deployment cannot wait for is cut: it
 * was set in a region that can, or before a setting was taken back.
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
 * An account that may send more requests a second than this has its row read once a second by each process, not for each request:
 * DynamoDB takes 3,000 reads of one row in a second, and a limit that many processes share is exceeded for a moment.
 */
const manyRequestsPerSecond = 2_000;

/** Whether an account may send so many requests that its row cannot be read for each. */
export const allowsManyRequests = (account: Pick<Account, 'plan' | 'limits'>): boolean =>
  limitsOf(account).max_requests_per_second > manyRequestsPerSecond;

/** An account that may send more messages a day than this gets more partitions: see docs/scale.md. */
const manyMessagesPerDay = 50_000_000;

/** Counts the partitions that an account needs for its limits. An account that has more already keeps them. */
export function shardsFor(account: Pick<Account, 'plan' | 'limits' | 'shards'>): number {
  const isWide =
    allowsManyRequests(account) || limitsOf(account).max_requests_per_day_hard > manyMessagesPerDay;
  return Math.max(account.shards, isWide ? shardCounts.wide : shardCounts.usual);
}

/** Retries of a message whose request does not say how many. */
const planRetries: Record<Plan, number> = { free: 3, paid: 5 };

export const defaultRetries = (account: Account): number =>
  Math.min(planRetries[account.plan], limitsOf(account).max_retries);

/** Whether an account's tokens work and its messages are delivered. */
export const isServed = ({ active, state }: Account): boolean => active && state === 'active';

export const isDeleted = ({ deletedAt }: Account): boolean => deletedAt !== undefined;

/** A worker uses an account for this long (ms) as it last read it. After that each worker knows of a change. */
export const accountLifetimeMs = 10 * secondMs;

/**
 * Refuses what begins something while the account's region is drained: a message, a schedule, a run. What goes on with something,
 * such as a step of a run or a retry of a dead letter, is taken, because it has to end here.
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
