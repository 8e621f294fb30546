/**
 * The development mode of the published clients. With `QSTASH_DEV=true` in its environment an application needs no settings: its
 * clients call `http://127.0.0.1:8080`, or the port `QSTASH_DEV_PORT`, and all know the same token and the same signing keys.
 * Before their first request they ask that server for `GET /v2/keys`; only if it does not answer with these keys within two
 * seconds, they download and start their own server.
 *
 * The token and the keys are no secret, so the stage alone has them, and only with `--dev`.
 */
import { giveCredentials } from '../../lambdas/account/givenCredentials.ts';
import { localAccountId } from './localAccount.ts';

/** Gives the stage's account the credentials of the development mode. */
export function giveDevCredentials(): void {
  giveCredentials({
    accountId: localAccountId,
    token: { UserID: 'defaultUser', Password: 'defaultPassword' },
    signingKeys: { current: 'sig_7kYjw48mhY7kAjqNGcy6cr29RJ6r', next: 'sig_5ZB6DVzB1wjE8S6rZ7eenA8Pdnhs' },
  });
}

const usualPort = '8080';

/** Tells what an application needs to find this stage. */
export function devModeSentence(url: string): string {
  const { port } = new URL(url);
  const environment = ['QSTASH_DEV=true', ...(port === usualPort ? [] : [`QSTASH_DEV_PORT=${port}`])];
  return `Applications find it with ${environment.join(' ')}, without a token and signing keys.`;
}
