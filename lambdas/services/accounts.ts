import { randomUUID } from 'node:crypto';
import * as z from 'zod/mini';
import type { Account } from '../domain/account.ts';
import { now } from '../domain/clock.ts';
import { signingKeysOf, tokenOf } from '../domain/credentials.ts';
import { createAccount as storeAccount, loadAccount } from '../stores/accounts.ts';
import { masterSecret } from '../stores/masterSecret.ts';
import { settings } from '../settings.ts';

const newAccount = z.strictObject({
  /** Letters, digits, `-` and `_`; a random UUID when absent. */
  id: z.optional(z.string().check(z.regex(/^[A-Za-z0-9_-]{1,64}$/))),
  /** The customer's e-mail address or team. */
  customer_id: z.optional(z.string().check(z.minLength(1), z.maxLength(320))),
  type: z.enum(['free', 'paid']),
  /** An account is made in the region that it is served in. */
  region: z.optional(z.literal(settings.region, `allowed here is ${settings.region}`)),
});

/** The record as its owner's operator sees it, with the credentials that are derived for it. */
export interface AccountRecord {
  readonly id: string;
  readonly customer_id: string | undefined;
  readonly type: string;
  readonly region: string;
  readonly active: boolean;
  readonly state: string;
  readonly creation_time: number;
  readonly token: string;
  readonly read_only_token: string;
  readonly signing_keys: { readonly current: string; readonly next: string };
}

async function recordOf(account: Account): Promise<AccountRecord> {
  const secret = await masterSecret();
  return {
    id: account.id,
    customer_id: account.customerId,
    type: account.plan,
    region: account.region,
    active: account.active,
    state: account.state,
    creation_time: account.createdAt,
    token: tokenOf(secret, account, 'write'),
    read_only_token: tokenOf(secret, account, 'read'),
    signing_keys: signingKeysOf(secret, account),
  };
}

/**
 * Creates an account in this deployment's region, or finds the one with the given id as it is: calling it twice makes
 * one account.
 *
 * @throws Error that names the field when the input is malformed
 */
export async function createAccount(input: unknown): Promise<AccountRecord> {
  const parsed = newAccount.safeParse(input);
  if (!parsed.success) throw new Error(`The account is malformed:\n${z.prettifyError(parsed.error)}`);
  const { id = randomUUID(), customer_id: customerId, type: plan } = parsed.data;
  const account: Account = {
    id,
    customerId,
    plan,
    region: settings.region,
    active: true,
    state: 'active',
    tokenGeneration: 1,
    signingGeneration: 1,
    createdAt: now(),
    limits: {},
  };
  const existing = (await storeAccount(account)) ? account : await loadAccount(id, true);
  if (existing === undefined) throw new Error(`The account ${id} was deleted while it was created.`);
  return recordOf(existing);
}
