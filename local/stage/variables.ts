/** The variables with which clients use a stage. */
import { ownCalls } from '../network/ownCalls.ts';
import { localAccount, type Management } from './localAccount.ts';

interface Addresses {
  readonly publicUrl: string;
  readonly url: string;
  readonly region: string;
  readonly isPaused: boolean;
}

/** Makes the developer's account at the first start, unless the stage is paused. */
export async function firstVariables(
  management: Omit<Management, 'url'>,
  { publicUrl, url, region, isPaused }: Addresses,
): Promise<Record<string, string>> {
  const own = ownCalls();
  try {
    const account = await localAccount({ url, ...management }, region, isPaused, own.call);
    return clientVariables(publicUrl, management, account);
  } finally {
    await own.close();
  }
}

function clientVariables(
  url: string,
  management: Omit<Management, 'url'>,
  account: Awaited<ReturnType<typeof localAccount>>,
): Record<string, string> {
  const { token = '', read_only_token = '', keys: { current = '', next = '' } = {} } = account ?? {};
  return {
    SVC_URL: url,
    SVC_TOKEN: token,
    SVC_READ_ONLY_TOKEN: read_only_token,
    SVC_CURRENT_SIGNING_KEY: current,
    SVC_NEXT_SIGNING_KEY: next,
    SVC_MANAGEMENT_URL: url,
    SVC_MANAGEMENT_USER: management.username,
    SVC_MANAGEMENT_PASSWORD: management.password,
    QSTASH_URL: url,
    QSTASH_TOKEN: token,
    QSTASH_CURRENT_SIGNING_KEY: current,
    QSTASH_NEXT_SIGNING_KEY: next,
  };
}

/** Writes variables as lines `NAME=value` for a shell. */
export function toLines(variables: Readonly<Record<string, string>>): string {
  return Object.entries(variables)
    .map(([name, value]) => `${name}=${value}\n`)
    .join('');
}
