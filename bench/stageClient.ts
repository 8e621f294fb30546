import * as z from 'zod/mini';
import type { Stage } from '../test/support/stage.ts';

/** An account whose limits have no effect. (With more requests it would be a large account.) */
export const unlimited = { type: 'paid', max_global_parallelism: 100_000, max_requests_per_second: 2_000 };

export async function post(
  url: string,
  authorization: string,
  body: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<{ readonly status: number; readonly text: string }> {
  const answer = await fetch(url, { method: 'POST', headers: { authorization, ...headers }, body });
  return { status: answer.status, text: await answer.text() };
}

export async function makeStageAccount({ management }: Stage, fields: object = unlimited): Promise<string> {
  const { url, user, password } = management;
  const login = `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;
  const { text } = await post(`${url}/v2/svc/users`, login, JSON.stringify(fields));
  return z.object({ token: z.string() }).parse(JSON.parse(text)).token;
}
