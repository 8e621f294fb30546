/** What an operator does to make an account; see docs/deploy.md. */
import * as z from 'zod';
import { readSecret } from './aws.ts';

async function json<T>(shape: z.ZodType<T>, url: string, request: RequestInit): Promise<T> {
  const response = await fetch(url, { ...request, signal: AbortSignal.timeout(60_000) });
  const text = await response.text();
  if (!response.ok) throw new Error(`${url} answered ${response.status.toString()}: ${text}`);
  return shape.parse(JSON.parse(text));
}

const credentialsShape = z.object({ username: z.string(), password: z.string() });

/** The management API, and who may use it. */
export interface Management extends z.output<typeof credentialsShape> {
  readonly url: string;
}

export async function findManagement(
  url: string,
  secret: { readonly endpoint: string; readonly region: string; readonly name: string },
): Promise<Management> {
  const text = await readSecret(secret.endpoint, secret.region, secret.name);
  return { url, ...credentialsShape.parse(JSON.parse(text)) };
}

const accountShape = z.object({ token: z.string(), read_only_token: z.string() });
const keysShape = z.object({ current: z.string(), next: z.string() });

/** @param url of the region's messaging API, which shows the signing keys */
export async function createAccount(management: Management, region: string, url: string) {
  const { username, password } = management;
  const account = await json(accountShape, `${management.url}/v2/svc/users`, {
    method: 'POST',
    headers: {
      Authorization: `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`,
      'Content-Type': 'application/json',
    },
    body: JSON.stringify({ customer_id: 'e2e@example.com', type: 'paid', region }),
  });
  const keys = await json(keysShape, `${url}/v2/keys`, {
    headers: { Authorization: `Bearer ${account.token}` },
  });
  return { ...account, ...keys };
}
