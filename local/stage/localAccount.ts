/** The developer's account, created through the management API as an operator creates one. */
import * as z from 'zod/mini';
import { developersSqs } from '../lambda/environment.ts';
import type { CallOwn } from '../network/ownCalls.ts';

/** The id is the same at every start, so that the account is found again. */
export const localAccountId = '00000000-0000-4000-8000-000000000001';

const record = z.object({
  token: z.string(),
  read_only_token: z.string(),
  region: z.string(),
  deletion_time: z.number(),
  destinations: z.optional(z.array(z.string())),
});

/** The patterns of all functions, queues, topics and buses, each with where they are, if the developer has said that. */
const everywhere = (): readonly (readonly [pattern: string, endpoint: string | undefined])[] => [
  ['arn:aws:lambda:*:*:function:*', process.env['AWS_ENDPOINT_URL_LAMBDA']],
  ['arn:aws:sqs:*:*:*', developersSqs],
  ['arn:aws:sns:*:*:*', process.env['AWS_ENDPOINT_URL_SNS']],
  ['arn:aws:events:*:*:event-bus/*', process.env['AWS_ENDPOINT_URL_EVENTBRIDGE']],
];

/** The destinations in AWS that messages may go to. Without the address of a service there is nothing of it: AWS itself is never called. */
export const reachableDestinations = (): readonly string[] =>
  everywhere().flatMap(([pattern, endpoint = '']) => (endpoint === '' ? [] : [pattern]));

const signingKeys = z.object({ current: z.string(), next: z.string() });

export interface Management {
  readonly url: string;
  readonly username: string;
  readonly password: string;
}

/**
 * Finds the account `local`, or creates it: a paid account in the stage's region, that may send to all destinations in AWS.
 *
 * @returns without keys when the account is suspended or deleted, since its token is refused then
 */
export async function localAccount(
  { url, username, password }: Management,
  region: string,
  callOwn: CallOwn,
) {
  const headers = { authorization: `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}` };
  const users = `${url}/v2/svc/users`;
  const send = async (method: string, path: string, body: object): Promise<z.infer<typeof record>> =>
    record.parse(
      await jsonOf(await callOwn(`${users}${path}`, { method, headers, body: JSON.stringify(body) })),
    );

  const found = await callOwn(`${users}/${localAccountId}`, { headers });
  const set = { region, destinations: everywhere().map(([pattern]) => pattern) };
  let account =
    found.status === 404
      ? await send('POST', '', { id: localAccountId, customer_id: 'local', type: 'paid', ...set })
      : record.parse(await jsonOf(found));
  // The data directory was made by a stage of another region, or by one that could send to nothing in AWS.
  const isAsBefore =
    account.region === region && (account.destinations !== undefined || reachableDestinations().length === 0);
  if (!isAsBefore && account.deletion_time === 0) account = await send('PATCH', `/${localAccountId}`, set);

  const answer = await callOwn(`${url}/v2/keys`, { headers: { authorization: `Bearer ${account.token}` } });
  return { ...account, keys: answer.status === 401 ? undefined : signingKeys.parse(await jsonOf(answer)) };
}

async function jsonOf(response: Awaited<ReturnType<CallOwn>>): Promise<unknown> {
  const text = await response.text();
  if (response.status === 200) return JSON.parse(text);
  throw new Error(`${response.url} answered ${response.status}: ${text}`);
}
