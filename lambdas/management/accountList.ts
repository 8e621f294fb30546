import { accountRecord } from './rules/accountFields.ts';
import { accountId, longestAccountPage } from './accountShapes.ts';
import type * as answers from '../wire/accountAnswers.ts';
import type { Answer } from '../wire/answers.ts';
import type { Account } from '../account/account.ts';
import { now } from '../shared/clock.ts';
import type { Header } from '../shared/headers.ts';
import { badField, badRequest, quote } from '../error/httpError.ts';
import { settings } from '../aws/settings.ts';
import { accountsOf } from '../account/accounts.ts';
import { masterSecret } from '../account/secrets.ts';
import { logAndContinue } from '../aws/logAndContinue.ts';

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
  search: { isRight: (value) => value.trim() !== '', allowed: 'a text that is not empty' },
  after: { isRight: (value) => accountId.safeParse(value).success, allowed: 'the id of an account' },
};

function readPage(query: readonly Header[]): Readonly<Record<string, string>> {
  for (const [name, value] of query) {
    const field = Object.hasOwn(pageFields, name) ? pageFields[name] : undefined;
    if (field === undefined) {
      throw badRequest(
        'field_unknown',
        `${quote(name)} is not a parameter; allowed are ${Object.keys(pageFields).join(', ')}.`,
      );
    }
    if (!field.isRight(value)) throw badField(`${name} is ${quote(value)}; allowed is ${field.allowed}.`);
  }
  return Object.fromEntries(query);
}

/**
 * Reads the first accounts that a region serves. If the region does not answer, this region's replica is
 * read, which may be some seconds old.
 */
async function firstOf(
  region: string,
  after: string | undefined,
  most: number,
  search: string,
): Promise<readonly Account[]> {
  const isFound = ({ id, customerId = '', createdBy = '' }: Account): boolean =>
    [id, customerId, createdBy].some((text) => text.toLowerCase().includes(search));
  const take = async (replica: string): Promise<readonly Account[]> => {
    const accounts: Account[] = [];
    for await (const account of accountsOf(region, replica, after)) {
      if (isFound(account)) accounts.push(account);
      if (accounts.length === most) break;
    }
    return accounts;
  };
  if (region === settings.region) return take(region);
  return (await logAndContinue(take(region))) ?? take(settings.region);
}

/**
 * Lists accounts, region by region. A search reads the table of accounts until the page is full, or to its
 * end: about 1,400 accounts a megabyte.
 *
 * @param query `count`, `search`, and where to continue: `region` and `after`
 * @returns a page, and the query of the next page if there is one
 * @throws HttpError 400
 */
export async function listAccounts(query: readonly Header[]): Promise<{
  readonly accounts: Answer<typeof answers.accounts>;
  readonly next: Readonly<Record<string, string>> | undefined;
}> {
  const { count: countText, search, region: first = settings.regions[0] ?? '', after } = readPage(query);
  const wanted = search?.trim().toLowerCase() ?? '';
  const count = countText === undefined ? longestAccountPage : Number(countText);
  const accounts: Answer<typeof answers.account>[] = [];
  let last = { region: first, after: after ?? '' };
  for (const region of settings.regions.slice(settings.regions.indexOf(first))) {
    const left = count - accounts.length;
    // Reads one account more than fits, to know whether there is another page.
    for (const account of await firstOf(region, region === first ? after : undefined, left + 1, wanted)) {
      if (accounts.length === count)
        return { accounts, next: { count: String(count), ...(search && { search }), ...last } };
      accounts.push(accountRecord(account, await masterSecret(), now()));
      last = { region, after: account.id };
    }
  }
  return { accounts, next: undefined };
}
