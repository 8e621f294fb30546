/** The service for the clients under test, with an account for each run. */
import * as z from 'zod/mini';
import { startCommand, startStage, type Stage } from '../support/stage.ts';
import type { Target } from './run.ts';

/** A deployment that the user names, or a local stage. */
export interface Service {
  /** The account for one run. */
  readonly target: () => Promise<Target>;
  /** The variables of the quick starts, whose apps only run beside a local stage. */
  readonly env: Readonly<Record<string, string>> | undefined;
  /** The most concurrent runs. */
  readonly runsAtOnce: number;
  readonly end: () => Promise<void>;
}

/** Runs wait more than they compute, so three are enough for two cores. */
const runsAtOnce = 3;

/** @param receiver where the deployment reaches this machine; runs take turns at its port */
export const deployed = (url: string, token: string, receiver: Target['receiver']): Service => ({
  target: () => Promise.resolve({ url, token, isOwn: false, receiver }),
  env: undefined,
  runsAtOnce: 1,
  end: () => Promise.resolve(),
});

const account = z.object({ token: z.string() });

/** Creates an account, so that runs don't see each other's data. */
async function makeAccount({ management: { url, user, password } }: Stage): Promise<string> {
  const response = await fetch(`${url}/v2/svc/users`, {
    method: 'POST',
    headers: { authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}` },
    body: JSON.stringify({ customer_id: 'conformance@example.com', type: 'paid' }),
  });
  if (!response.ok) throw new Error(`No account was made: ${response.status} ${await response.text()}`);
  return account.parse(await response.json()).token;
}

export async function onThisMachine(): Promise<Service> {
  const stage = await startStage({ command: startCommand });
  const { url, token, currentSigningKey, nextSigningKey } = stage;
  const names = Object.entries({
    URL: url,
    TOKEN: token,
    CURRENT_SIGNING_KEY: currentSigningKey,
    NEXT_SIGNING_KEY: nextSigningKey,
  });
  return {
    target: async () => ({ url, token: await makeAccount(stage), isOwn: true, receiver: undefined }),
    env: Object.fromEntries(
      ['QSTASH', 'SVC'].flatMap((brand) => names.map(([name, value]) => [`${brand}_${name}`, value])),
    ),
    runsAtOnce,
    end: () => stage.remove(),
  };
}
