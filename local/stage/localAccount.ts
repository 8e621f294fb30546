/** The developer's account, created through the management API as an operator creates one. */
import * as z from 'zod/mini';
import type { CallOwn } from '../network/ownCalls.ts';

/** The id is the same at every start, so that the account is found again. */
export const localAccountId = '00000000-0000-4000-8000-000000000001';

const record = z.object({
  token: z.string(),
  read_only_token: z.string(),
  region: z.string(),
  deletion_time: z.number(),
  lambda_destinations: z.optional(z.array(z.string())),
});

/** The pattern of all functions. */
export const allFunctions = 'arn:aws:lambda:*:*:function:*';

/** Whether the developer has said where Lambda functions run. Otherwise none can be called: AWS itself is never called. */
export const functionsRunSomewhere = (): boolean => process.env['AWS_ENDPOINT_URL_LAMBDA'] !== undefined;

const signingKeys = z.object({ current: z.string(), next: z.string() });

export interface Management {
  readonly url: string;
  readonly username: string;
  readonly password: string;
}

/**
 * Finds the account `local`, or creates it: a paid account in the stage's region, that may call all functions.
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
  const set = { region, lambda_destinations: [allFunctions] };
  let account =
    found.status === 404
      ? await send('POST', '', { id: localAccountId, customer_id: 'local', type: 'paid', ...set })
      : record.parse(await jsonOf(found));
  // The data directory was made by a stage of another region, or by one that could call no functions.
  const isAsBefore =
    account.region === region && (account.lambda_destinations !== undefined || !functionsRunSomewhere());
  if (!isAsBefore && account.deletion_time === 0) account = await send('PATCH', `/${localAccountId}`, set);

  const answer = await callOwn(`${url}/v2/keys`, { headers: { authorization: `Bearer ${account.token}` } });
  return { ...account, keys: answer.status === 401 ? undefined : signingKeys.parse(await jsonOf(answer)) };
}

async function jsonOf(response: Awaited<ReturnType<CallOwn>>): Promise<unknown> {
  const text = await response.text();
  if (response.status === 200) return JSON.parse(text);
  throw new Error(`${response.url} answered ${response.status}: ${text}`);
}
