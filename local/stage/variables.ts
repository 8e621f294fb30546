/** The variables with which clients use a stage. */
import { ownCalls } from '../network/ownCalls.ts';
import { localAccount, type Management } from './localAccount.ts';

/** Creates the developer's account at the first start, unless the stage is paused. */
export async function firstVariables(
  management: Omit<Management, 'url'>,
  {
    publicUrl,
    url,
    region,
    isPaused,
  }: {
    readonly publicUrl: string;
    readonly url: string;
    readonly region: string;
    readonly isPaused: boolean;
  },
): Promise<Record<string, string>> {
  const own = ownCalls();
  try {
    const account = await localAccount({ url, ...management }, region, isPaused, own.call);
    const { token = '', read_only_token = '', keys: { current = '', next = '' } = {} } = account ?? {};
    return {
      SVC_URL: publicUrl,
      SVC_TOKEN: token,
      SVC_READ_ONLY_TOKEN: read_only_token,
      SVC_CURRENT_SIGNING_KEY: current,
      SVC_NEXT_SIGNING_KEY: next,
      SVC_MANAGEMENT_URL: publicUrl,
      SVC_MANAGEMENT_USER: management.username,
      SVC_MANAGEMENT_PASSWORD: management.password,
      QSTASH_URL: publicUrl,
      QSTASH_TOKEN: token,
      QSTASH_CURRENT_SIGNING_KEY: current,
      QSTASH_NEXT_SIGNING_KEY: next,
    };
  } finally {
    await own.close();
  }
}

/** Writes variables as lines `NAME=value` for a shell. */
export function toLines(variables: Readonly<Record<string, string>>): string {
  return Object.entries(variables)
    .map(([name, value]) => `${name}=${value}\n`)
    .join('');
}
