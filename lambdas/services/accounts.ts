import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { isDeleted, newAccount, type Account } from '../domain/account.ts';
import { accountRecord, parseAccountInput, withFields } from '../domain/accountFields.ts';
import { accountId, longestAccountPage, type AccountInput } from '../domain/accountShapes.ts';
import type * as answers from '../domain/answers.ts';
import type { Answer } from '../domain/answers.ts';
import { dayMs, now } from '../domain/clock.ts';
import { secretMark } from '../domain/credentials.ts';
import type { Header } from '../domain/dialect.ts';
import { badRequest, HttpError, notFound, quote, quoteJson } from '../domain/httpError.ts';
import { parseJson } from '../domain/json.ts';
import { dayOf } from '../domain/meter.ts';
import { settings } from '../settings.ts';
import { accountsOf, loadAccount, saveAccount } from '../stores/accounts.ts';
import { masterSecret } from '../stores/secrets.ts';
import { usageOf, type Usage } from '../stores/usage.ts';
import { tellAllRegions } from '../transport/accountChanges.ts';

type AccountRecord = Answer<typeof answers.account>;

const recordOf = async (account: Account): Promise<AccountRecord> =>
  accountRecord(account, await masterSecret(), now());

const noSuchAccount = (id: string): HttpError => notFound(`There is no account ${quote(id)}.`);
const isBusy = (id: string): HttpError =>
  new HttpError(503, `The account ${quote(id)} is being changed by others; send the request again.`);

/** How long a row may take from one region to another. */
const replicationMs = 10_000;

/**
 * Finds an account as its own region has it, whichever that is.
 *
 * @returns undefined when no region has it
 */
async function find(id: string): Promise<Account | undefined> {
  const until = now() + replicationMs;
  for (;;) {
    const replicas = await Promise.allSettled(
      settings.regions.map(async (region) => ({ region, account: await loadAccount(id, true, region) })),
    );
    const found = replicas.flatMap((replica) => (replica.status === 'fulfilled' ? [replica.value] : []));
    const own = found.find(({ region, account }) => account?.region === region);
    if (own?.account !== undefined) return own.account;
    const failure = replicas.find((replica) => replica.status === 'rejected');
    if (failure !== undefined) throw failure.reason;
    if (found.every(({ account }) => account === undefined)) return undefined;
    // It has just moved, and its new region has not heard of it yet.
    if (now() > until) throw isBusy(id);
    await setTimeout(100);
  }
}

/** @throws HttpError 404 */
async function get(id: string): Promise<Account> {
  const account = accountId.safeParse(id).success ? await find(id.toLowerCase()) : undefined;
  if (account === undefined) throw noSuchAccount(id);
  return account;
}

/** What a page of the list is asked for with. */
const pageFields: Readonly<
  Record<string, { readonly isRight: (value: string) => boolean; readonly allowed: string }>
> = {
  count: {
    isRight: (value) => /^\d{1,4}$/.test(value) && Number(value) >= 1 && Number(value) <= longestAccountPage,
    allowed: `a whole number from 1 to ${longestAccountPage}`,
  },
  region: {
    isRight: (value) => settings.regions.includes(value),
    allowed: settings.regions.join(' or '),
  },
  after: { isRight: (value) => accountId.safeParse(value).success, allowed: 'the id of an account' },
};

function checkPage(query: readonly Header[]): Readonly<Record<string, string>> {
  for (const [name, value] of query) {
    const field = Object.hasOwn(pageFields, name) ? pageFields[name] : undefined;
    if (field === undefined) {
      throw badRequest(`${quote(name)} is no parameter; allowed are ${Object.keys(pageFields).join(', ')}.`);
    }
    if (!field.isRight(value)) throw badRequest(`${name} is ${quote(value)}; allowed is ${field.allowed}.`);
  }
  return Object.fromEntries(query);
}

/**
 * Lists accounts, region by region.
 *
 * @param query `count`, and where to go on: `region` and `after`
 * @returns with the query of the next page, where there is one
 * @throws HttpError 400
 */
export async function listAccounts(query: readonly Header[]): Promise<{
  readonly accounts: readonly AccountRecord[];
  readonly next: Readonly<Record<string, string>> | undefined;
}> {
  const { count: countText, region: first = settings.regions[0] ?? '', after } = checkPage(query);
  const count = countText === undefined ? longestAccountPage : Number(countText);
  const accounts: AccountRecord[] = [];
  let last = { region: first, after: after ?? '' };
  for (const region of settings.regions.slice(settings.regions.indexOf(first))) {
    for await (const account of accountsOf(region, region === first ? after : undefined)) {
      if (accounts.length === count) return { accounts, next: { count: String(count), ...last } };
      accounts.push(await recordOf(account));
      last = { region, after: account.id };
    }
  }
  return { accounts, next: undefined };
}

export const getAccount = async (id: string): Promise<AccountRecord> => recordOf(await get(id));

/** Reads what a new account is made of: the fields that can be set, and an id. */
function parseNewAccount(bytes: Uint8Array): {
  readonly id: string | undefined;
  readonly input: AccountInput;
} {
  const body = bytes.length === 0 ? {} : parseJson('The body', bytes);
  if (typeof body !== 'object' || body === null || !('id' in body)) {
    return { id: undefined, input: parseAccountInput(body, settings.regions) };
  }
  const { id, ...fields } = body;
  const read = accountId.safeParse(id);
  if (!read.success) throw badRequest(`id is ${quoteJson(id)}; allowed is a UUID.`);
  return { id: read.data.toLowerCase(), input: parseAccountInput(fields, settings.regions) };
}

/** @throws HttpError 400, or 409 when the id is taken; nothing is changed then */
export async function createAccount(bytes: Uint8Array): Promise<AccountRecord> {
  const { id: givenId, input } = parseNewAccount(bytes);
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
  // A replica knows nothing yet of what another has just been given, so all are asked.
  const isTaken = givenId !== undefined && (await find(givenId)) !== undefined;
  if (isTaken || !(await saveAccount(account, undefined))) {
    throw new HttpError(409, `There is an account ${quote(account.id)} already.`);
  }
  return recordOf(account);
}

/** How often a change is made anew on the outcome of another. */
const tries = 5;

/**
 * Changes an account in its own region, on what it is there, whoever else changes it meanwhile.
 *
 * @param work what becomes of it; itself where nothing does
 * @throws HttpError 404 or 503
 */
async function change(id: string, work: (account: Account) => Account): Promise<Account> {
  for (let attempt = 0; attempt < tries; attempt += 1) {
    const before = await get(id);
    const worked = work(before);
    if (worked === before) return before;
    const after = { ...worked, version: before.version + 1 };
    if (await saveWithFollowers(after, before)) return after;
  }
  throw isBusy(id);
}

/** @throws HttpError 404 for one that was deleted */
function notDeleted(account: Account): Account {
  if (isDeleted(account)) throw notFound(`The account ${quote(account.id)} was deleted.`);
  return account;
}

/** Longer than a request to the API takes: whatever becomes of this process, the change was made by then or never will be. */
const laterSeconds = 60;

/**
 * Saves an account. Regions that have to follow are told twice: before, for later, so that they follow even if this
 * process dies right after it has saved; and then at once.
 */
async function saveWithFollowers(after: Account, before: Account): Promise<boolean> {
  const isFollowed = after.state !== before.state || after.region !== before.region;
  if (isFollowed) await tellAllRegions(after.id, laterSeconds);
  const isSaved = await saveAccount(after, before);
  if (isSaved && isFollowed) await tellAllRegions(after.id, 0);
  return isSaved;
}

/** @throws HttpError 400, 404 or 503; nothing is changed then */
export async function updateAccount(id: string, bytes: Uint8Array): Promise<AccountRecord> {
  const input = parseAccountInput(parseJson('The body', bytes), settings.regions);
  const account = await change(id, (before) => withFields(notDeleted(before), input, now()));
  // An account that moved is answered when its new region has it.
  return recordOf(await get(account.id));
}

/**
 * Deletes an account: its tokens end at once, its schedules and deliveries follow, and its data expires. Deleting it again
 * changes nothing.
 *
 * @throws HttpError 404 or 503
 */
export async function deleteAccount(id: string): Promise<AccountRecord> {
  const time = now();
  const end = { active: false, state: 'deleted', stateChangedAt: time, deletedAt: time };
  return recordOf(await change(id, (before) => (isDeleted(before) ? before : { ...before, ...end })));
}

/**
 * Gives an account new tokens. In its region the old ones are refused from now on.
 *
 * @throws HttpError 404 or 503
 */
export async function rotateTokens(id: string): Promise<AccountRecord> {
  const account = await change(id, (before) => ({
    ...notDeleted(before),
    tokenGeneration: before.tokenGeneration + 1,
  }));
  return recordOf(account);
}

/** How many days the statistics show. */
const statsDays = 30;

const weekday = (day: string): string =>
  new Intl.DateTimeFormat('en', { weekday: 'long', timeZone: 'UTC' }).format(new Date(day));

/** @throws HttpError 404 */
export async function getStats(id: string): Promise<Answer<typeof answers.accountStats>> {
  const account = await get(id);
  const time = now();
  const days = Array.from({ length: statsDays }, (_, index) => dayOf(time - (statsDays - 1 - index) * dayMs));
  const months = [...new Set(days.map((day) => day.slice(0, 7)))];
  const usage = new Map(
    (await Promise.all(months.map((month) => usageOf(account.id, month, account.region)))).flatMap(
      (found) => [...found],
    ),
  );
  const daily = (of: (one: Usage) => number) =>
    days.map((day) => {
      const found = usage.get(day);
      return { x: new Date(day).toISOString(), y: found === undefined ? 0 : of(found) };
    });
  const billing = (messages: number): number => Number((messages * settings.pricePerMessage).toFixed(6));
  const month = dayOf(time).slice(0, 7);
  const monthly = (of: (one: Usage) => number): number =>
    [...usage].reduce((total, [day, one]) => (day.startsWith(month) ? total + of(one) : total), 0);
  return {
    days: days.map(weekday),
    daily_requests: daily(({ requests }) => requests),
    daily_messages: daily(({ messages }) => messages),
    daily_calls: daily(({ calls }) => calls),
    daily_bandwidths: daily(({ bytes }) => bytes),
    daily_billings: daily(({ messages }) => billing(messages)),
    total_monthly_requests: monthly(({ requests }) => requests),
    total_monthly_messages: monthly(({ messages }) => messages),
    total_monthly_bandwidth: monthly(({ bytes }) => bytes),
    total_monthly_billing: billing(monthly(({ messages }) => messages)),
  };
}
