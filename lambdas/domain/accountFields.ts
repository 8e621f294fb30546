/** What the management API takes and shows of an account: the fields of the account record, by its names. */
import { accountLifetimeMs, limitsOf, type Account } from './account.ts';
import { accountChange, accountFields, type AccountField, type AccountInput } from './accountShapes.ts';
import type * as answers from './answers.ts';
import type { Answer } from './answers.ts';
import { secondMs } from './clock.ts';
import { tokenOf, type MasterSecret } from './credentials.ts';
import { badRequest, quote, quoteJson } from './httpError.ts';
import { limitNames, limitTable, type LimitName } from './limits.ts';

const limitField = (name: LimitName) =>
  `a whole number from ${limitTable[name].least} to ${limitTable[name].most}, or null for the plan's own`;

const text = (most: number): string => `a text of 1 to ${most} characters`;

/** What may be set, in words. */
const allowed: Readonly<Record<Exclude<AccountField, LimitName | 'region'>, string>> = {
  customer_id: text(320),
  created_by: text(320),
  type: 'free or paid',
  active: 'true or false',
  state: 'active or passive',
  budget: 'a whole number of dollars from 0 to 1000000000; 0 is no limit',
  reserved_type:
    'svc_fixed_1m, svc_fixed_10m, svc_fixed_100m, svc_fixed, enterprise:<identifier>, an empty text, or null',
  reserved_price: 'a whole number of dollars from 0 to 1000000000, or null',
  prod_pack_enabled: 'true or false',
  prometheus_enabled: 'the text "true" or the text "false"',
  enterprise: '{"enabled": true or false}, or null',
};

const isLimit = (field: string): field is LimitName => Object.hasOwn(limitTable, field);
const isField = (field: string): field is AccountField => Object.hasOwn(accountFields, field);
const isOther = (field: string): field is keyof typeof allowed => Object.hasOwn(allowed, field);

const fieldNames = Object.keys(accountFields).join(', ');

/**
 * Reads the fields that are to be set.
 *
 * @param body parsed JSON
 * @param regions those that accounts can be served in
 * @throws HttpError 400 that names the first field that is wrong
 */
export function parseAccountInput(body: unknown, regions: readonly string[]): AccountInput {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw badRequest(`The body is not a JSON object; allowed are the fields ${fieldNames}.`);
  }
  const wrong = (field: string, value: unknown, words: string) =>
    badRequest(`${field} is ${quoteJson(value)}; allowed is ${words}.`);
  for (const [field, value] of Object.entries(body)) {
    if (!isField(field)) {
      throw badRequest(`${quote(field)} is no field that can be set; allowed are ${fieldNames}.`);
    }
    const isRight = accountFields[field].safeParse(value).success;
    if (field === 'region') {
      if (!isRight || !regions.some((region) => region === value)) {
        throw wrong(field, value, regions.join(' or '));
      }
    } else if (!isRight) {
      throw wrong(field, value, isLimit(field) ? limitField(field) : isOther(field) ? allowed[field] : '');
    }
  }
  const input = accountChange.parse(body);
  if (
    input.active !== undefined &&
    input.state !== undefined &&
    input.active !== (input.state === 'active')
  ) {
    throw badRequest('active and state contradict each other; allowed is one of them, or both alike.');
  }
  return input;
}

function changedLimits(limits: Account['limits'], input: AccountInput): Account['limits'] {
  const changed: Record<string, number | undefined> = { ...limits };
  for (const name of limitNames) {
    const value = input[name];
    if (value !== undefined) changed[name] = value ?? undefined;
  }
  return changed;
}

/** A field's new value: what it was where nothing is said of it, and nothing where null is said. */
const changed = <T>(before: T | undefined, input: T | null | undefined): T | undefined =>
  input === undefined ? before : (input ?? undefined);

/**
 * An account with fields set anew.
 *
 * @param now Unix milliseconds
 * @throws HttpError 400 when its limits contradict each other
 */
export function withFields(account: Account, input: AccountInput, now: number): Account {
  const state =
    input.state ?? (input.active === undefined ? account.state : input.active ? 'active' : 'passive');
  const plan = input.type ?? account.plan;
  const after: Account = {
    ...account,
    customerId: input.customer_id ?? account.customerId,
    createdBy: input.created_by ?? account.createdBy,
    plan,
    planUpgradedAt: account.plan === 'free' && plan === 'paid' ? now : account.planUpgradedAt,
    region: input.region ?? account.region,
    active: state === 'active',
    state,
    stateChangedAt: state === account.state ? account.stateChangedAt : now,
    limits: changedLimits(account.limits, input),
    budget: input.budget ?? account.budget,
    reservedType: changed(account.reservedType, input.reserved_type),
    reservedPrice: changed(account.reservedPrice, input.reserved_price),
    prodPack: input.prod_pack_enabled ?? account.prodPack,
    prometheus:
      input.prometheus_enabled === undefined ? account.prometheus : input.prometheus_enabled === 'true',
    enterprise: changed(account.enterprise, input.enterprise),
  };
  const { max_requests_per_day: soft, max_requests_per_day_hard: hard } = limitsOf(after);
  if (hard < soft) {
    throw badRequest(
      `max_requests_per_day_hard is ${hard}; allowed is ${soft}, which max_requests_per_day is, or more.`,
    );
  }
  return after;
}

/** What a change of state is on its way to, as long as workers may not have heard of it. */
const modifyingStates: Readonly<Record<string, string>> = {
  active: 'activated',
  passive: 'suspended',
  deleted: 'deleted',
};

/**
 * An account as its operator sees it, with the credentials that are derived for it.
 *
 * @param now Unix milliseconds
 */
export function accountRecord(
  account: Account,
  secret: MasterSecret,
  now: number,
): Answer<typeof answers.account> {
  const { stateChangedAt = 0, state } = account;
  const isModifying = now - stateChangedAt < accountLifetimeMs;
  const seconds = (time: number | undefined): number | undefined =>
    time === undefined ? undefined : Math.floor(time / secondMs);
  return {
    customer_id: account.customerId,
    id: account.id,
    token: tokenOf(secret, account, 'write'),
    read_only_token: tokenOf(secret, account, 'read'),
    active: account.active,
    state,
    modifying_state: isModifying ? modifyingStates[state] : undefined,
    last_plan_upgrade_time: seconds(account.planUpgradedAt),
    ...limitsOf(account),
    prod_pack_enabled: account.prodPack,
    prometheus_enabled: account.prometheus ? 'true' : 'false',
    type: account.plan,
    region: account.region,
    reserved_type: account.reservedType,
    reserved_price: account.reservedPrice,
    created_by: account.createdBy,
    creation_time: Math.floor(account.createdAt / secondMs),
    deletion_time: seconds(account.deletedAt) ?? 0,
    budget: account.budget,
    enterprise: account.enterprise,
  };
}
