import { randomInt } from 'node:crypto';
import * as z from 'zod/mini';
import type { Scope } from '../destination/destination.ts';
import { circuitSettings } from '../circuit/settings.ts';
import type { Readable } from '../options/option.ts';
import { secondMs } from '../shared/clock.ts';
import { shardCounts } from '../shared/ids.ts';
import { eachLimit, plans, type Limits, type Plan } from '../value/limits.ts';
import { HttpError } from '../error/httpError.ts';

const optionalText = z.optional(z.string());

/** Certificates for TLS with destinations. */
const tlsIdentity = z.object({
  /** A host without its port, or `*` for all other hosts. */
  host: z.string(),
  /** The name of a secret with certificates of authorities that are trusted in addition to the public ones. */
  ca: optionalText,
  /** The name of a secret with a certificate and its key, by which the host can authenticate the service. */
  identity: optionalText,
});
export type TlsIdentity = Readable<z.infer<typeof tlsIdentity>>;

/** An account as stored. Its credentials are not stored: they are derived from the generations. */
export const storedAccount = z.object({
  /** A UUID. */
  id: z.string(),
  customerId: optionalText,
  createdBy: optionalText,
  plan: z.enum(plans),
  /** The region that serves the account. Only there its row is written. */
  region: z.string(),
  active: z.boolean(),
  /** `active`, `passive` or `deleted`. */
  state: z.string(),
  stateChangedAt: z.optional(z.number()),
  /** The ids of the valid named tokens. Each token has a row with its other fields. */
  tokenIds: z.optional(z.array(z.string())),
  /** Named tokens that were rotated. Until a time earlier generations are accepted, too. */
  tokenRotations: z.optional(
    z.array(z.object({ id: z.string(), generation: z.number(), earliest: z.number(), until: z.number() })),
  ),
  /** Incremented when the tokens are reset. */
  tokenGeneration: z.number(),
  /** The generation of the current signing key. The next key has the next number. */
  signingGeneration: z.number(),
  /** The mark of the current signing key's master secret; see `signingKeysOf`. */
  signingSecret: optionalText,
  createdAt: z.number(),
  planUpgradedAt: z.optional(z.number()),
  deletedAt: z.optional(z.number()),
  /**
   * The state that the account gets if it is restored. If it is undefined, the data of a deleted account is
   * removed.
   */
  stateBefore: optionalText,
  /** Limits that differ from the plan's. */
  limits: z.object(eachLimit(() => z.optional(z.number()))),
  /** Dollars a month; 0 for no limit. */
  budget: z._default(z.number(), 0),
  reservedType: optionalText,
  /** Dollars. */
  reservedPrice: z.optional(z.number()),
  prodPack: z._default(z.boolean(), false),
  prometheus: z._default(z.boolean(), false),
  enterprise: z.optional(z.object({ enabled: z.boolean() })),
  /**
   * The number of partitions for messages and dead letters. Never lowered, because rows stay in their
   * partition.
   */
  shards: z._default(z.number(), shardCounts.usual),
  /** If true, the account accepts nothing new and finishes the rest. */
  isDraining: z.optional(z.boolean()),
  /** Undefined if circuits never hold messages back. */
  circuit: z.optional(circuitSettings),
  /** The holds whose lanes messages ask, each until a time. */
  holds: z.optional(
    z.array(z.object({ name: z.string(), version: z.number(), until: z.optional(z.number()) })),
  ),
  destinations: z.optional(z.array(z.string())),
  lambdaDestinations: z.optional(z.array(z.string())),
  tlsIdentities: z.optional(z.array(tlsIdentity)),
  /** Statuses that fail messages permanently, as in `value/statusList.ts`. */
  failOn: optionalText,
  failureCallback: optionalText,
  /** Incremented by each change, so that concurrent changes are noticed. */
  version: z._default(z.number(), 1),
});

export interface Account extends Readable<z.infer<typeof storedAccount>> {
  /**
   * The destinations to which the request's token may send; undefined for all. Not stored: it only applies to
   * one request.
   */
  readonly scope?: Scope | undefined;
  /** The longest timeout of this deployment, in seconds. Not stored: it is added when the account is read. */
  readonly longestTimeout?: number | undefined;
}

/**
 * Random, because a deleted account may have had the same id. So their tokens and signing keys differ, even
 * after many rotations.
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

const hardOverSoft = 10;

/** Results of {@link limitsOf}, which a request needs many times. */
const knownLimits: Readonly<Record<Plan, WeakMap<Account['limits'], Limits>>> = {
  free: new WeakMap(),
  paid: new WeakMap(),
};

type Limited = Pick<Account, 'plan' | 'limits' | 'longestTimeout'>;

/**
 * If a timeout is above this deployment's maximum, it is lowered: it was set in a region with a higher
 * maximum, or before the setting was lowered.
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
 * Accounts above this limit are read only once a second by each process: DynamoDB allows 3,000 reads of a row
 * in a second, and many processes can exceed the limit briefly.
 */
const manyRequestsPerSecond = 2_000;

export const allowsManyRequests = (account: Pick<Account, 'plan' | 'limits'>): boolean =>
  limitsOf(account).max_requests_per_second > manyRequestsPerSecond;

/** An account that may send more messages a day gets more partitions: see docs/scale.md. */
const manyMessagesPerDay = 50_000_000;

export function shardsFor(account: Pick<Account, 'plan' | 'limits' | 'shards'>): number {
  const isWide =
    allowsManyRequests(account) || limitsOf(account).max_requests_per_day_hard > manyMessagesPerDay;
  return Math.max(account.shards, isWide ? shardCounts.wide : shardCounts.usual);
}

/** The number of retries, if a request does not set it. */
const planRetries: Record<Plan, number> = { free: 3, paid: 5 };

export const defaultRetries = (account: Account): number =>
  Math.min(planRetries[account.plan], limitsOf(account).max_retries);

/** Whether the account's tokens are accepted and its messages are delivered. */
export const isServed = ({ active, state }: Account): boolean => active && state === 'active';

export const isDeleted = ({ deletedAt }: Account): boolean => deletedAt !== undefined;

/**
 * Whether the account was deleted and cannot be restored. Until then, a deleted account is treated like a
 * suspended one.
 */
export const isRemoved = ({ deletedAt, stateBefore }: Account): boolean =>
  deletedAt !== undefined && stateBefore === undefined;

/** A worker reads an account again after this time (ms), so by then all workers know of a change. */
export const accountLifetimeMs = 10 * secondMs;

/**
 * Refuses new work. Steps of runs and retries of dead letters are not refused, because they must end here.
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
