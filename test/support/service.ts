import { inject } from 'vitest';
import * as z from 'zod/mini';
import { limitForHangsMs } from './limits.ts';
import type { SharedService } from './sharedService.ts';
import type { Management } from './stage.ts';

/** The service under test, with a separate account for this test file, so that lists have no other messages. */
export interface Service extends SharedService {
  readonly token: string;
  readonly readOnlyToken: string;
  readonly currentSigningKey: string;
  readonly nextSigningKey: string;
}

export const basic = (user: string, password: string): string =>
  `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;

async function ask<T>(shape: z.ZodMiniType<T>, url: string, init: RequestInit): Promise<T> {
  const response = await fetch(url, { ...init, signal: AbortSignal.timeout(limitForHangsMs) });
  const text = await response.text();
  if (!response.ok) throw new Error(`${url} answered ${response.status}: ${text}`);
  return shape.parse(JSON.parse(text));
}

const tokens = z.object({ token: z.string(), read_only_token: z.string() });
const keys = z.object({ current: z.string(), next: z.string() });

async function makeAccount({ url, user, password }: Management, region: string) {
  return ask(tokens, `${url}/v2/svc/users`, {
    method: 'POST',
    headers: { authorization: basic(user, password), 'content-type': 'application/json' },
    body: JSON.stringify({ customer_id: 'e2e@example.com', type: 'paid', region }),
  });
}

/** Adds the tokens and keys of a new account to a place. */
export async function withAccount<T extends Pick<SharedService, 'url' | 'management' | 'region'>>(
  shared: T,
): Promise<T & Omit<Service, keyof SharedService>> {
  const { token, read_only_token: readOnlyToken } = await makeAccount(shared.management, shared.region);
  const { current, next } = await ask(keys, `${shared.url}/v2/keys`, {
    headers: { authorization: `Bearer ${token}` },
  });
  return { ...shared, token, readOnlyToken, currentSigningKey: current, nextSigningKey: next };
}

/** The current test file's service. Files of a process share this module. */
export let service: Service;

export async function useOwnAccount(): Promise<void> {
  service = await withAccount(inject('service'));
}
