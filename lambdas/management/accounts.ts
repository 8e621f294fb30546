import { randomUUID } from 'node:crypto';
import {
  accountRecord,
  parseAccountInput,
  parseNewAccount,
  shownSettings,
  withFields,
  type AccountRecord,
} from './rules/accountFields.ts';
import { isDeleted, isRemoved, newAccount, type Account } from '../account/account.ts';
import { givenTo, secretMark } from '../account/credentials.ts';
import { now } from '../shared/clock.ts';
import { HttpError, notFound, quote } from '../error/httpError.ts';
import { parseJson } from '../shared/json.ts';
import { settings } from '../aws/settings.ts';
import { refuseSsrf } from '../destination/destination.ts';
import { deploymentRules } from '../destination/rulesOfDeployment.ts';
import type { AccountInput } from './accountShapes.ts';
import { saveAccount } from '../account/accounts.ts';
import { masterSecret } from '../account/secrets.ts';
import { retryOnConflict } from '../aws/retryOnConflict.ts';
import { credentialsFixed } from '../account/signingKeys.ts';
import { hidden } from '../shared/urlCredentials.ts';
import { changesBetween, type Changes, type Values } from '../audit/changes.ts';
import { withdrawRefused, type AuditPlace } from '../audit/audited.ts';
import { auditedIn, beginIn, type OperatorsChange } from './auditedIn.ts';
import { answerOf, busySentence, existingAccount, findAccount } from './replicas.ts';
import { saveWithFollowers } from './saveWithFollowers.ts';

const recordOf = async (account: Account): Promise<AccountRecord> =>
  accountRecord(account, await masterSecret(), now());

export const getAccount = async (id: string): Promise<AccountRecord> =>
  recordOf(await existingAccount(id, 'stale'));

/** @throws HttpError 403 if deliveries to the failure callback are not allowed */
async function checkCallback({ failure_callback: url }: AccountInput): Promise<void> {
  if (typeof url === 'string') refuseSsrf('failure_callback', url, await deploymentRules());
}

/** The URL of a failure callback is hidden, because its path may contain a secret. */
const accountChanges = (before: Values | undefined, after: Values): Changes =>
  changesBetween(before, after, (field, text) => (field === 'failure_callback' ? hidden : text));

/**
 * @param address of the operator, for the audit trail
 * @throws HttpError 400, 403, or 409 if the id is taken
 */
export async function createAccount(bytes: Uint8Array, address?: string): Promise<AccountRecord> {
  const { id: givenId, input } = parseNewAccount(bytes, settings);
  await checkCallback(input);
  const [region = settings.region] = settings.regions;
  const secret = await masterSecret();
  const fresh = newAccount({
    id: givenId ?? randomUUID(),
    plan: input.type ?? 'free',
    region: input.region ?? region,
    createdAt: now(),
    signingSecret: secretMark(secret.current),
  });
  const account = withFields(fresh, input, now());
  // A new row needs a moment to reach other regions, so all of them are asked.
  const isTaken = givenId !== undefined && (await findAccount(givenId)) !== undefined;
  const taken = new HttpError(409, 'account_exists', `There is an account ${quote(account.id)} already.`);
  if (isTaken) throw taken;
  // Only the given fields and those that identify the account. Most others come from the plan.
  const told = new Set(['id', 'customer_id', 'type', 'region', 'state', ...Object.keys(input)]);
  const values = Object.entries({ id: account.id, ...shownSettings(account) });
  const changes = accountChanges(undefined, Object.fromEntries(values.filter(([field]) => told.has(field))));
  await auditedIn(account, { action: 'account.create', address, changes }, async () => {
    if (!(await answerOf(account.region, saveAccount(account, undefined)))) throw taken;
  });
  return recordOf(account);
}

/**
 * Changes an account in its own region, unless another request changes it at the same time.
 *
 * @param entry of the audit trail
 * @param changed returns the changed account, or the same object if nothing changes
 * @throws HttpError 404 or 503
 */
const change = (
  id: string,
  entry: OperatorsChange,
  changed: (account: Account) => Account,
): Promise<Account> => {
  let place: AuditPlace | undefined;
  const changing = retryOnConflict(busySentence(id), async () => {
    const before = await existingAccount(id);
    const after = changed(before);
    if (after === before) return before;
    const changes = accountChanges(shownSettings(before), shownSettings(after));
    place ??= await beginIn(before, { ...entry, changes });
    const raised = { ...after, version: before.version + 1 };
    return (await saveWithFollowers(raised, before)) ? raised : undefined;
  });
  return changing.catch(async (error: unknown) => {
    if (place !== undefined) await withdrawRefused(place, error);
    throw error;
  });
};

/** @throws HttpError 404 for a deleted account */
function notDeleted(account: Account): Account {
  if (isDeleted(account))
    throw notFound('account_not_found', `The account ${quote(account.id)} was deleted.`);
  return account;
}

export async function updateAccount(id: string, bytes: Uint8Array, address?: string): Promise<AccountRecord> {
  const input = parseAccountInput(parseJson('The body', bytes), settings);
  await checkCallback(input);
  const subject = Object.keys(input).join(', ');
  const entry = { action: 'account.change', subject, address } as const;
  const account = await change(id, entry, (before) => withFields(notDeleted(before), input, now()));
  // Shows a moved account as its new region has it. If that takes too long, shows it as another region has
  // it.
  return recordOf(await existingAccount(account.id, 'stale'));
}

/**
 * Deletes an account. Its tokens are refused at once; its schedules and deliveries end soon after. Its data
 * is kept until `endDeletions`. Can be repeated.
 *
 * @throws HttpError 404 or 503
 */
export async function deleteAccount(id: string, address?: string): Promise<AccountRecord> {
  const time = now();
  const end = { active: false, state: 'deleted', stateChangedAt: time, deletedAt: time };
  const entry = { action: 'account.delete', address } as const;
  const account = await change(id, entry, (before) =>
    isDeleted(before) ? before : { ...before, ...end, stateBefore: before.state },
  );
  return recordOf(account);
}

/**
 * Restores a deleted account, with its former state and tokens. Can be repeated.
 *
 * @throws HttpError 404 if its data was removed, or 503
 */
export async function restoreAccount(id: string, address?: string): Promise<AccountRecord> {
  const entry = { action: 'account.restore', address } as const;
  const account = await change(id, entry, (before) => {
    const { stateBefore: state } = before;
    if (isRemoved(before))
      throw notFound(
        'account_not_found',
        `The account ${quote(before.id)} was deleted, and can no longer be restored.`,
      );
    if (state === undefined) return before;
    const again = { state, active: state === 'active', stateChangedAt: now() };
    return { ...before, ...again, deletedAt: undefined, stateBefore: undefined };
  });
  return recordOf(account);
}

/**
 * Gives an account new tokens. Its region refuses the old ones at once.
 *
 * @throws HttpError 403 if the token is fixed, 404 or 503
 */
export async function rotateTokens(id: string, address?: string): Promise<AccountRecord> {
  if (givenTo(await masterSecret(), id) !== undefined) throw credentialsFixed();
  const entry = { action: 'account.rotateTokens', address } as const;
  const account = await change(id, entry, (before) => ({
    ...notDeleted(before),
    tokenGeneration: before.tokenGeneration + 1,
  }));
  return recordOf(account);
}
