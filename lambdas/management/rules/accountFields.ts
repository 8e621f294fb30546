import { accountLifetimeMs, limitsOf, shardsFor, type Account } from '../../account/account.ts';
import {
  accountFields,
  allowedValues,
  changedAccountInput,
  type AccountField,
  type AccountInput,
  accountId,
} from '../accountShapes.ts';
import type * as answers from '../../wire/accountAnswers.ts';
import { optionalNames, type OptionalField } from '../../wire/accountFields.ts';
import type { Answer } from '../../wire/answers.ts';
import { secondMs } from '../../shared/clock.ts';
import { parseUrl } from '../../destination/destination.ts';
import { shownUrl, withKnownCredentials } from '../../shared/urlCredentials.ts';
import { tokenOf, type MasterSecret } from '../../account/credentials.ts';
import { badField, badRequest, quote, quoteJson } from '../../error/httpError.ts';
import { longestTimeoutSeconds } from '../../aws/resources.ts';
import { eachLimit, limitTable } from '../../value/limits.ts';
import { parseStatusList } from '../../value/statusList.ts';
import { parseJson } from '../../shared/json.ts';
import { tlsHostOf } from '../../value/tlsIdentities.ts';

const isField = (field: string): field is AccountField => Object.hasOwn(accountFields, field);

const fieldNames = Object.keys(accountFields).join(', ');

interface Deployment {
  readonly regions: readonly string[];
  readonly longestTimeoutSeconds: number;
}

function allowedIn(field: AccountField, { regions, longestTimeoutSeconds: longest }: Deployment): string {
  if (field === 'region') return regions.join(' or ');
  if (field !== 'timeout') return allowedValues[field];
  const more =
    longest === longestTimeoutSeconds.functions
      ? ` (${longestTimeoutSeconds.instances} where the deployment has the setting longDelivery: instances)`
      : '';
  return `a whole number from ${limitTable.timeout.least} to ${longest}${more}, or null for the plan's own`;
}

/**
 * @param body parsed JSON
 * @throws HttpError 400 that names the first wrong field
 */
export function parseAccountInput(body: unknown, deployment: Deployment): AccountInput {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw badRequest('body_invalid', `The body is not a JSON object; allowed are the fields ${fieldNames}.`);
  }
  for (const [field, value] of Object.entries(body)) {
    if (!isField(field)) {
      throw badRequest(
        'field_unknown',
        `${quote(field)} is not a field that can be set; allowed are ${fieldNames}.`,
      );
    }
    const isRight =
      accountFields[field].safeParse(value).success &&
      (field !== 'region' || value === null || deployment.regions.some((region) => region === value)) &&
      (field !== 'timeout' || !(Number(value) > deployment.longestTimeoutSeconds));
    if (isRight) continue;
    throw badField(`${field} is ${quoteJson(value)}; allowed is ${allowedIn(field, deployment)}.`);
  }
  const input = changedAccountInput.parse(body);
  if (typeof input.fail_on === 'string') input.fail_on = parseStatusList(input.fail_on);
  if (input.tls_identities)
    input.tls_identities = input.tls_identities.map((one) => ({
      ...one,
      host: tlsHostOf(one.host) ?? one.host,
    }));
  if (typeof input.failure_callback === 'string') {
    input.failure_callback = parseUrl('failure_callback', input.failure_callback.trim());
  }
  if (
    input.active !== undefined &&
    input.state !== undefined &&
    input.active !== (input.state === 'active')
  ) {
    throw badField('active and state contradict each other; allowed is one of them, or both if they agree.');
  }
  return input;
}

/** Reads a new account's id and fields. @throws HttpError 400 */
export function parseNewAccount(
  bytes: Uint8Array,
  deployment: Deployment,
): {
  readonly id: string | undefined;
  readonly input: AccountInput;
} {
  const body = bytes.length === 0 ? {} : parseJson('The body', bytes);
  if (typeof body !== 'object' || body === null || !('id' in body)) {
    return { id: undefined, input: parseAccountInput(body, deployment) };
  }
  const { id, ...fields } = body;
  if (id === null) return { id: undefined, input: parseAccountInput(fields, deployment) };
  const read = accountId.safeParse(id);
  if (!read.success) throw badField(`id is ${quoteJson(id)}; allowed is a UUID.`);
  return { id: read.data.toLowerCase(), input: parseAccountInput(fields, deployment) };
}

/** If the field is missing, its value stays; `null` removes it. */
const changed = <T>(before: T | undefined, input: T | null | undefined): T | undefined =>
  input === undefined ? before : (input ?? undefined);

type Camel<Name extends string> = Name extends `${infer First}_${infer Rest}`
  ? `${First}${Capitalize<Camel<Rest>>}`
  : Name;

const storedName = <Name extends string>(name: Name) =>
  name.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase()) as Camel<Name>;

/**
 * The optional fields of a changed account. A failure callback may be sent back as it was shown; its hidden
 * credentials are kept then.
 */
function withOptional(account: Account, input: AccountInput): Pick<Account, Camel<OptionalField>> {
  const all = optionalNames.map((name) => {
    const stored = storedName(name);
    return [stored, changed<unknown>(account[stored], input[name])];
  });
  const after = Object.fromEntries(all) as Pick<Account, Camel<OptionalField>>;
  const { failureCallback: url } = after;
  return { ...after, failureCallback: url && withKnownCredentials(url, account.failureCallback) };
}

const shownOptional = (account: Account) =>
  Object.fromEntries(optionalNames.map((name) => [name, account[storedName(name)]])) as {
    readonly [Name in OptionalField]: AccountRecord[Name];
  };

/** @throws HttpError 400 if the account's limits contradict each other */
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
    limits: eachLimit((name) => changed(account.limits[name], input[name])),
    budget: input.budget ?? account.budget,
    reservedType: changed(account.reservedType, input.reserved_type),
    reservedPrice: changed(account.reservedPrice, input.reserved_price),
    prodPack: input.prod_pack_enabled ?? account.prodPack,
    prometheus:
      input.prometheus_enabled === undefined ? account.prometheus : input.prometheus_enabled === 'true',
    ...withOptional(account, input),
  };
  const { max_requests_per_day: soft, max_requests_per_day_hard: hard } = limitsOf(after);
  if (hard < soft) {
    throw badField(
      `max_requests_per_day_hard is ${hard}; allowed is ${soft} (max_requests_per_day) or more.`,
    );
  }
  return { ...after, shards: shardsFor(after) };
}

/**
 * The values of `modifying_state`, by the account's new state. Shown until all workers must know the new
 * state.
 */
const modifyingStates: Readonly<Record<string, string>> = {
  active: 'activated',
  passive: 'suspended',
  deleted: 'deleted',
};

export type AccountRecord = Answer<typeof answers.account>;

export const shownSettings = (account: Account) =>
  ({
    customer_id: account.customerId,
    active: account.active,
    state: account.state,
    ...limitsOf(account),
    prod_pack_enabled: account.prodPack,
    prometheus_enabled: account.prometheus ? 'true' : 'false',
    type: account.plan,
    region: account.region,
    reserved_type: account.reservedType,
    reserved_price: account.reservedPrice,
    created_by: account.createdBy,
    budget: account.budget,
    ...shownOptional(account),
    failure_callback: account.failureCallback && shownUrl(account.failureCallback),
  }) satisfies Partial<AccountRecord>;

export function accountRecord(account: Account, secret: MasterSecret, now: number): AccountRecord {
  const { stateChangedAt = 0, state } = account;
  const isModifying = now - stateChangedAt < accountLifetimeMs;
  const seconds = (time: number | undefined): number | undefined =>
    time === undefined ? undefined : Math.floor(time / secondMs);
  return {
    ...shownSettings(account),
    id: account.id,
    token: tokenOf(secret, account, 'write'),
    read_only_token: tokenOf(secret, account, 'read'),
    modifying_state: isModifying ? modifyingStates[state] : undefined,
    last_plan_upgrade_time: seconds(account.planUpgradedAt),
    creation_time: Math.floor(account.createdAt / secondMs),
    deletion_time: seconds(account.deletedAt) ?? 0,
  };
}
