import * as z from 'zod';
import { readSecret } from './aws.ts';

const credentialsShape = z.object({ username: z.string(), password: z.string() });

/** The URL and the credentials of the management API. */
export interface Management extends z.output<typeof credentialsShape> {
  readonly url: string;
}

/** Reads the credentials of the management API from its secret, as an operator does; see docs/deploy.md. */
export async function findManagement(
  url: string,
  secret: { readonly endpoint: string; readonly region: string; readonly name: string },
): Promise<Management> {
  const text = await readSecret(secret.endpoint, secret.region, secret.name);
  return { url, ...credentialsShape.parse(JSON.parse(text)) };
}
