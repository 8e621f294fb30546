import * as z from 'zod/mini';
import type { Stage } from '../test/support/stage.ts';

/** An account whose limits have no effect. (With more requests it would be a large account.) */
export const unlimited = { type: 'paid', max_global_parallelism: 100_000, max_requests_per_second: 2_000 };

/** Creates an account on a local stage, and returns its token. */
export async function makeStageAccount({ management }: Stage, fields: object = unlimited): Promise<string> {
  const { url, user, password } = management;
  const response = await fetch(`${url}/v2/svc/users`, {
    method: 'POST',
    headers: { authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}` },
    body: JSON.stringify(fields),
  });
  return z.object({ token: z.string() }).parse(await response.json()).token;
}
