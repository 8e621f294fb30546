/** The account that a developer works with: made through the management API, as an operator makes one. */
import * as z from 'zod/mini';

/** The same at every start, so that it is found again. */
const id = '00000000-0000-4000-8000-000000000001';

const record = z.object({
  token: z.string(),
  read_only_token: z.string(),
  region: z.string(),
  deletion_time: z.number(),
});
const signingKeys = z.object({ current: z.string(), next: z.string() });

export interface Management {
  readonly url: string;
  readonly username: string;
  readonly password: string;
}

/**
 * Finds the account `local`, or makes it: a paid one, in the region that the stage plays.
 *
 * @returns without keys when it was suspended or deleted: then nobody but an operator has to do with it
 */
export async function localAccount({ url, username, password }: Management, region: string) {
  const headers = { authorization: `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}` };
  const users = `${url}/v2/svc/users`;
  const send = async (method: string, path: string, body: object): Promise<z.infer<typeof record>> =>
    record.parse(
      await jsonOf(await fetch(`${users}${path}`, { method, headers, body: JSON.stringify(body) })),
    );

  const found = await fetch(`${users}/${id}`, { headers });
  let account =
    found.status === 404
      ? await send('POST', '', { id, customer_id: 'local', type: 'paid', region })
      : record.parse(await jsonOf(found));
  // The data directory was another region's.
  if (account.region !== region && account.deletion_time === 0)
    account = await send('PATCH', `/${id}`, { region });

  const answer = await fetch(`${url}/v2/keys`, { headers: { authorization: `Bearer ${account.token}` } });
  return { ...account, keys: answer.status === 401 ? undefined : signingKeys.parse(await jsonOf(answer)) };
}

async function jsonOf(response: Response): Promise<unknown> {
  const text = await response.text();
  if (response.status === 200) return JSON.parse(text);
  throw new Error(`${response.url} answered ${response.status}: ${text}`);
}
