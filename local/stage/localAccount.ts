/** The developer's account, created through the management API. */
import * as z from 'zod/mini';
import { developersSqs } from '../lambda/environment.ts';
import type { CallOwn } from '../network/ownCalls.ts';

/** Fixed, so that every start finds the same account. */
export const localAccountId = '00000000-0000-4000-8000-000000000001';

const record = z.object({
  token: z.string(),
  read_only_token: z.string(),
  region: z.string(),
  deletion_time: z.number(),
  destinations: z.optional(z.array(z.string())),
});

/** Patterns of all functions, queues, topics and buses, each with the developer's endpoint for it. */
const everywhere = (): readonly (readonly [pattern: string, endpoint: string | undefined])[] => [
  ['arn:aws:lambda:*:*:function:*', process.env['AWS_ENDPOINT_URL_LAMBDA']],
  ['arn:aws:sqs:*:*:*', developersSqs],
  ['arn:aws:sns:*:*:*', process.env['AWS_ENDPOINT_URL_SNS']],
  ['arn:aws:events:*:*:event-bus/*', process.env['AWS_ENDPOINT_URL_EVENTBRIDGE']],
];

/**
 * The destinations in AWS that are allowed: those with an endpoint of the developer. The stage itself never
 * calls AWS.
 */
export const reachableDestinations = (): readonly string[] =>
  everywhere().flatMap(([pattern, endpoint = '']) => (endpoint === '' ? [] : [pattern]));

const signingKeys = z.object({ current: z.string(), next: z.string() });

export interface Management {
  readonly url: string;
  readonly username: string;
  readonly password: string;
}

/**
 * Finds or creates the account `local`: a paid account in the stage's region, which may send to all
 * destinations that can be reached.
 *
 * @returns no keys if the account is suspended or deleted; undefined if it does not exist and may not be
 * created
 */
export async function localAccount(
  { url, username, password }: Management,
  region: string,
  isPaused: boolean,
  callOwn: CallOwn,
) {
  const headers = { authorization: `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}` };
  const users = `${url}/v2/svc/users`;
  const send = async (method: string, path: string, body: object): Promise<z.infer<typeof record>> =>
    record.parse(
      await jsonOf(await callOwn(`${users}${path}`, { method, headers, body: JSON.stringify(body) })),
    );

  const found = await callOwn(`${users}/${localAccountId}`, { headers });
  if (isPaused && found.status === 404) return undefined;
  const set = { region, destinations: everywhere().map(([pattern]) => pattern) };
  let account =
    found.status === 404
      ? await send('POST', '', { id: localAccountId, customer_id: 'local', type: 'paid', ...set })
      : record.parse(await jsonOf(found));
  // An earlier stage may have had another region, or other endpoints.
  const isAsBefore =
    account.region === region && (account.destinations !== undefined || reachableDestinations().length === 0);
  if (!isAsBefore && !isPaused && account.deletion_time === 0)
    account = await send('PATCH', `/${localAccountId}`, set);

  const answer = await callOwn(`${url}/v2/keys`, { headers: { authorization: `Bearer ${account.token}` } });
  return { ...account, keys: answer.status === 401 ? undefined : signingKeys.parse(await jsonOf(answer)) };
}

async function jsonOf(response: Awaited<ReturnType<CallOwn>>): Promise<unknown> {
  const text = await response.text();
  if (response.status === 200) return JSON.parse(text);
  throw new Error(`${response.url} answered ${response.status}: ${text}`);
}
