/**
 * The development mode of the published clients. With `QSTASH_DEV=true` they call `http://127.0.0.1:8080`, or
 * the port `QSTASH_DEV_PORT`, with a fixed token and fixed signing keys. Before that, they request `GET
 * /v2/keys`. If the server does not answer with these keys within two seconds, they download and start their
 * own server.
 *
 * The token and the keys are public, so the stage accepts them only with `--dev`.
 */
import { giveCredentials } from '../../lambdas/account/givenCredentials.ts';
import { localAccountId } from './localAccount.ts';

export function giveDevCredentials(): void {
  giveCredentials({
    accountId: localAccountId,
    token: { UserID: 'defaultUser', Password: 'defaultPassword' },
    signingKeys: { current: 'sig_7kYjw48mhY7kAjqNGcy6cr29RJ6r', next: 'sig_5ZB6DVzB1wjE8S6rZ7eenA8Pdnhs' },
  });
}

const usualPort = '8080';

export function devModeSentence(url: string): string {
  const { port } = new URL(url);
  const environment = ['QSTASH_DEV=true', ...(port === usualPort ? [] : [`QSTASH_DEV_PORT=${port}`])];
  return `Applications find it with ${environment.join(' ')}, without a token and signing keys.`;
}
