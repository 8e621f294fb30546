import { networkOf } from '../destination/addresses.ts';
import { now, secondMs } from '../shared/clock.ts';
import { sameText } from '../account/credentials.ts';
import type { CodeOf } from '../error/errorCodes.ts';
import { HttpError } from '../error/httpError.ts';
import {
  managementCredentials,
  renewedManagementCredentials,
  type ManagementCredentials,
} from '../account/secrets.ts';
import { addFailedLogin, failedLogins, loginPeriodMs } from './store/logins.ts';
import { log } from '../aws/log.ts';

/** A client with more failures in a quarter of an hour must wait until it is over. */
const mostFailures = 10;

const unauthorized = (code: CodeOf<401>, message: string): HttpError =>
  new HttpError(401, code, message, { 'www-authenticate': 'Basic realm="management", charset="UTF-8"' });

function tooMany(time: number): HttpError {
  const waitMs = loginPeriodMs - (time % loginPeriodMs);
  return new HttpError(
    429,
    'login_limit_reached',
    `There were ${mostFailures} wrong user names or passwords from this address; the next attempt is allowed in ${Math.ceil(waitMs / secondMs)} seconds.`,
    { 'retry-after': String(Math.ceil(waitMs / secondMs)) },
  );
}

/** Reads an `Authorization: Basic` header (RFC 7617). */
function readBasic(authorization: string): ManagementCredentials | undefined {
  const encoded = /^Basic +([A-Za-z0-9+/=]+) *$/i.exec(authorization)?.[1];
  if (encoded === undefined) return undefined;
  const text = Buffer.from(encoded, 'base64').toString('utf8');
  const colon = text.indexOf(':');
  return colon < 0 ? undefined : { username: text.slice(0, colon), password: text.slice(colon + 1) };
}

const isSame = (given: ManagementCredentials, real: ManagementCredentials): boolean => {
  // Both are always compared, so that the time of the answer does not reveal which one is wrong.
  const matches = [sameText(given.username, real.username), sameText(given.password, real.password)];
  return matches.every(Boolean);
};

/** If the credentials are wrong, the secret is read again, because it may have changed. */
async function verify(given: ManagementCredentials): Promise<boolean> {
  if (isSame(given, await managementCredentials())) return true;
  return isSame(given, await renewedManagementCredentials());
}

/**
 * A network with many failures is refused for a while, so that passwords cannot be guessed.
 *
 * @throws HttpError 401, 429
 */
export async function authenticateManager(
  authorization: string | undefined,
  callerIp: string,
): Promise<void> {
  if (authorization === undefined) {
    throw unauthorized(
      'credentials_missing',
      'The credentials are missing; send them as the header Authorization: Basic <base64 of username:password>.',
    );
  }
  const given = readBasic(authorization);
  if (given === undefined) {
    throw unauthorized(
      'credentials_invalid',
      'The header Authorization is malformed; allowed is Basic <base64 of username:password>.',
    );
  }
  const time = now();
  const client = networkOf(callerIp);
  if ((await failedLogins(client, time)) >= mostFailures) throw tooMany(time);
  if (await verify(given)) return;
  const failures = await addFailedLogin(client, time);
  log.warn('Wrong credentials for the management API', { client, failures });
  // A client above the limit is not told whether its credentials were right.
  if (failures > mostFailures) throw tooMany(time);
  throw unauthorized('credentials_invalid', 'The user name or the password is wrong.');
}
