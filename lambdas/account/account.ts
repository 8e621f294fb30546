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
  /** The name of a secret with a certificate and its key, which are shown to the host. */
  identity: optionalText,
});
export type TlsIdentity = Readable<z.infer<typeof tlsIdentity>>;

/** An account as stored, without its credentials, which are derived from the generations. */
export const storedAccount = z.object({
  /** A UUID. */
  id: z.string(),
  customerId: optionalText,
  createdBy: optionalText,
  plan: z.enum(plans),
  /** The region that serves the account. Only this region's replica of its row is written. */
  region: z.string(),
  active: z.boolean(),
  /** `active`, `passive` or `deleted`. */
  state: z.string(),
  /** Unix milliseconds. */
  stateChangedAt: z.optional(z.number()),
  /** The ids of its valid named tokens; their rows have the rest. */
  tokenIds: z.optional(z.array(z.string())),
  /** The rotated ones of these: until a moment, in Unix milliseconds, earlier generations are accepted as well. */
  tokenRotations: z.optional(
    z.array(z.object({ id: z.string(), generation: z.number(), earliest: z.number(), until: z.number() })),
  ),
  /** Raised by a reset of the tokens. */
  tokenGeneration: z.number(),
  /** The generation of the current signing key. The next key has the next one. */
  signingGeneration: z.number(),
  /** The mark of the current signing key's master secret; see `signingKeysOf`. */
  signingSecret: optionalText,
  /** Unix milliseconds. */
  createdAt: z.number(),
  /** Unix milliseconds. */
  planUpgradedAt: z.optional(z.number()),
  /** Unix milliseconds. */
  deletedAt: z.optional(z.number()),
  /** The state that a restored account gets again. A deleted account without it has lost its data. */
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
  /** Partitions for its messages and dead letters. Never lowered, because rows stay in their partition. */
  shards: z._default(z.number(), shardCounts.usual),
  /** Accepts nothing new and finishes the rest. */
  isDraining: z.optional(z.boolean()),
  /** Undefined if circuits never hold back its messages. */
  circuit: z.optional(circuitSettings),
  /** Lanes of holds that its messages ask. Until: Unix milliseconds, after which none does. */
  holds: z.optional(
    z.array(z.object({ name: z.string(), version: z.number(), until: z.optional(z.number()) })),
  ),
  destinations: z.optional(z.array(z.string())),
  lambdaDestinations: z.optional(z.array(z.string())),
  tlsIdentities: z.optional(z.array(tlsIdentity)),
  /** Statuses that fail its messages permanently, as in `value/statusList.ts`. */
  failOn: optionalText,
  failureCallback: optionalText,
  /** Raised by each change, so that concurrent changes are noticed. */
  version: z._default(z.number(), 1),
});

export interface Account extends Readable<z.infer<typeof storedAccount>> {
  /**
   * The destinations that the request's token may send to, or undefined for all. It is not stored: it limits the work for one
   * request.
   */
  readonly scope?: Scope | undefined;
  /** Seconds, the longest timeout of this deployment. It is not stored: the process that read the account adds it. */
  readonly longestTimeout?: number | undefined;
}

/**
 * Starts at random, because a deleted account may have had the same id. So the tokens and signing keys of the two differ, even
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

/** Results of {@link limitsOf}, because a request needs them many times. */
const knownLimits: Readonly<Record<Plan, WeakMap<Account['limits'], Limits>>> = {
  free: new WeakMap(),
  paid: new WeakMap(),
};

type Limited = Pick<Account, 'plan' | 'limits' | 'longestTimeout'>;

/**
 * A timeout above this deployment's maximum is lowered: it was set in a region with a higher maximum, or before the setting was
 * lowered.
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
 * Above this, each process reads the account only once a second: DynamoDB allows 3,000 reads of a row in a second, and many
 * processes can exceed the limit briefly.
 */
const manyRequestsPerSecond = 2_000;

export const allowsManyRequests = (account: Pick<Account, 'plan' | 'limits'>): boolean =>
  limitsOf(account).max_requests_per_second > manyRequestsPerSecond;

/** An account that may send more messages a day gets more partitions: see docs/scale.md. */
const manyMessagesPerDay = 50_000_000;

/** Never fewer than the account has. */
export function shardsFor(account: Pick<Account, 'plan' | 'limits' | 'shards'>): number {
  const isWide =
    allowsManyRequests(account) || limitsOf(account).max_requests_per_day_hard > manyMessagesPerDay;
  return Math.max(account.shards, isWide ? shardCounts.wide : shardCounts.usual);
}

/** Retries of a message whose request sets none. */
const planRetries: Record<Plan, number> = { free: 3, paid: 5 };

export const defaultRetries = (account: Account): number =>
  Math.min(planRetries[account.plan], limitsOf(account).max_retries);

/** Whether its tokens work and its messages are delivered. */
export const isServed = ({ active, state }: Account): boolean => active && state === 'active';

export const isDeleted = ({ deletedAt }: Account): boolean => deletedAt !== undefined;

/** Whether the account was deleted and cannot be restored. Before that, a deleted account is like a suspended one. */
export const isRemoved = ({ deletedAt, stateBefore }: Account): boolean =>
  deletedAt !== undefined && stateBefore === undefined;

/** A worker reads an account again after this time (ms). By then each worker knows of a change. */
export const accountLifetimeMs = 10 * secondMs;

/**
 * Accepts steps of runs and retries of dead letters, because they must end here.
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
