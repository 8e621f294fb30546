import * as z from 'zod';
import { expectThat } from '../check.ts';
import { anything, type Client, jsonOf, post } from './api.ts';

const customer = 'svc-queue verify';

/**
 * The customer id of accounts that a check moves to another region. So they belong to that check in every
 * region.
 */
const movedBy = (region: string): string => `${customer}, moved by ${region}`;

const account = z.object({
  id: z.string(),
  token: z.string(),
  region: z.string(),
  customer_id: z.string().nullish(),
  state: z.string().optional(),
});
export type Account = z.output<typeof account>;

const make = (management: Client, fields: object): Promise<Account> =>
  management.read(account, 'POST', '/v2/svc/users', jsonOf({ type: 'paid', ...fields }));

/** @param lambda_destinations patterns of functions that its messages may go to */
export const makeAccount = (
  management: Client,
  region: string,
  lambda_destinations: readonly string[],
): Promise<Account> => make(management, { customer_id: customer, region, lambda_destinations });

export const makeMovingAccount = (management: Client, region: string): Promise<Account> =>
  make(management, { customer_id: movedBy(region), region });

export const moveAccount = (management: Client, { id }: Account, region: string): Promise<unknown> =>
  post(management, `/v2/svc/users/${id}`, { region }, 'PATCH');

export const deleteAccount = (management: Client, { id }: Pick<Account, 'id'>): Promise<unknown> =>
  management.read(anything, 'DELETE', `/v2/svc/users/${id}`);

/** Finds accounts of earlier runs that were killed. */
export async function leftAccounts(management: Client, region: string): Promise<readonly Account[]> {
  const left: Account[] = [];
  let page: string | undefined = '';
  while (page !== undefined) {
    const answer = await management.send('GET', `/v2/svc/users${page}`);
    expectThat(answer.status === 200, `The list of accounts was answered ${answer.status}: ${answer.text}`);
    const isOwn = ({ customer_id: owner, ...one }: Account): boolean =>
      one.state !== 'deleted' && ((owner === customer && one.region === region) || owner === movedBy(region));
    left.push(...z.array(account).parse(JSON.parse(answer.text)).filter(isOwn));
    page = /<([^>]*)>; rel="next"/.exec(answer.headers.get('link') ?? '')?.[1];
  }
  return left;
}

const waiting = z.object({ messages: z.array(z.object({ messageId: z.string() })) });
const named = z.array(z.object({ name: z.string() }));
const schedules = z.array(z.object({ scheduleId: z.string() }));

/**
 * Deletes an account's data in its region, and then the account, because a deleted account's schedules would stay in Scheduler.
 */
export async function removeAccount(management: Client, client: Client, account: Account): Promise<void> {
  // An account that was moved has no data here.
  if (account.customer_id?.includes(', moved by ') === true) {
    await deleteAccount(management, account);
    return;
  }
  const namesIn = async (list: string) =>
    (await client.read(named, 'GET', `/v2/${list}`)).map(({ name }) => `${list}/${name}`);
  const scheduled = await client.read(schedules, 'GET', '/v2/schedules');
  const { messages } = await client.read(waiting, 'GET', '/v2/messages');
  const all = [
    ...scheduled.map(({ scheduleId }) => `schedules/${scheduleId}`),
    ...(await namesIn('topics')),
    ...messages.map(({ messageId }) => `messages/${messageId}`),
    ...(await namesIn('queues')),
  ];
  // Fails if a message has just been delivered.
  for (const path of all) await client.read(anything, 'DELETE', `/v2/${path}`).catch(() => undefined);
  await deleteAccount(management, account);
}
