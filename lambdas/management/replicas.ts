/**
 * Reads accounts from all regions. An account's row is written only in its own region, which has the latest
 * version.
 */
import { setTimeout } from 'node:timers/promises';
import { accountId } from './accountShapes.ts';
import type { Account } from '../account/account.ts';
import { now } from '../shared/clock.ts';
import { HttpError, notFound, quote } from '../error/httpError.ts';
import { log } from '../aws/log.ts';
import { settings } from '../aws/settings.ts';
import { loadAccount } from '../account/accounts.ts';

/**
 * A row reaches other regions after this time at the latest, usually after a second. A request times out
 * after 29 s.
 */
const replicationMs = 10_000;
/** The pause before a missing row is read again. */
const pauseMs = 100;

/** For an account that others keep changing, or that has not reached its new region. */
export const busySentence = (id: string): string =>
  `The account ${quote(id)} is being changed by others; send the request again.`;

/** @throws HttpError 503 that names the region if it does not answer */
export async function answerOf<T>(region: string, asked: Promise<T>): Promise<T> {
  try {
    return await asked;
  } catch (error) {
    log.error('A region does not answer', { region, error: error instanceof Error ? error : String(error) });
    throw new HttpError(
      503,
      'region_unreachable',
      `The region ${region} does not answer; send the request again when it does.`,
    );
  }
}

interface Replica {
  readonly region: string;
  readonly account: Account | undefined;
}

/** @throws Error if the replica is not in the account's own region */
function ownAccount({ region, account }: Replica): Account {
  if (account?.region !== region) throw new Error(`The account is not served in ${region}.`);
  return account;
}

/**
 * Finds an account in its own region, without knowing which one that is. Once the account is found there,
 * other regions are not waited for.
 *
 * @param otherwise `stale`: if the account's own region does not answer, or does not have the account in
 * time, use the latest version of another region
 * @returns undefined if no region has the account
 * @throws HttpError 503 if it may be in a region that does not answer
 */
export async function findAccount(id: string, otherwise?: 'stale'): Promise<Account | undefined> {
  const until = now() + replicationMs;
  for (;;) {
    const replicas = settings.regions.map(async (region): Promise<Replica> => ({
      region,
      account: await answerOf(region, loadAccount(id, true, region)),
    }));
    const own = await Promise.any(replicas.map(async (replica) => ownAccount(await replica))).catch(
      () => undefined,
    );
    if (own !== undefined) return own;

    const outcomes = await Promise.allSettled(replicas);
    const found = outcomes.flatMap((outcome) =>
      outcome.status === 'fulfilled' && outcome.value.account !== undefined ? [outcome.value.account] : [],
    );
    const failure = outcomes.find((outcome) => outcome.status === 'rejected');
    if (failure === undefined && found.length === 0) return undefined;
    // All regions answered, so the account has just moved, and its row has not reached the new region.
    if (failure !== undefined || now() > until) {
      const [latest] = found.sort((one, other) => other.version - one.version);
      if (otherwise === 'stale' && latest !== undefined) return latest;
      throw failure?.reason ?? new HttpError(503, 'busy', busySentence(id));
    }
    await setTimeout(pauseMs);
  }
}

/**
 * @param otherwise see {@link findAccount}
 * @throws HttpError 404 or 503
 */
export async function existingAccount(id: string, otherwise?: 'stale'): Promise<Account> {
  const isId = accountId.safeParse(id).success;
  const account = isId ? await findAccount(id.toLowerCase(), otherwise) : undefined;
  if (account === undefined) throw notFound('account_not_found', `There is no account ${quote(id)}.`);
  return account;
}
