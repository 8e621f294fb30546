import { type Header, headerName } from '../../shared/headers.ts';
import { createHash, createHmac } from 'node:crypto';
import jws from 'jws';
import type { SigningKeys } from '../../account/credentials.ts';
import { shownUrl } from '../../shared/urlCredentials.ts';

/** How long a JWT is valid after it is signed. A receiver's clock may be ahead by as much. */
const validSeconds = 300;

/**
 * A JWT is also valid this long before it is signed: many libraries do not tolerate a receiver's clock that
 * is behind.
 */
const validBeforeSeconds = 60;

export interface Signed {
  readonly messageId: string;
  /** Without `user:password`: the receiver compares it with the claim `sub`. */
  readonly url: string;
  readonly body: Uint8Array;
  /** A JWT is made for each of these header prefixes, with the prefix as issuer. */
  readonly dialects: readonly string[];
  readonly signedAt: number;
}

/** Makes a JWT for each dialect, and the headers of the Standard Webhooks specification. */
export function signatureHeaders(keys: SigningKeys, signed: Signed): readonly Header[] {
  const seconds = Math.floor(signed.signedAt / 1000);
  const body = createHash('sha256').update(signed.body).digest('base64url');
  const jwtOf = (issuer: string): string =>
    jws.sign({
      header: { alg: 'HS256', typ: 'JWT' },
      payload: {
        body,
        iss: issuer,
        sub: shownUrl(signed.url),
        iat: seconds - validBeforeSeconds,
        nbf: seconds - validBeforeSeconds,
        exp: seconds + validSeconds,
        jti: `jwt_${signed.messageId}_${seconds}`,
      },
      secret: keys.current,
    });

  const webhookSignature = (key: string): string =>
    `v1,${createHmac('sha256', Buffer.from(key.replace(/^whsec_/, ''), 'base64'))
      .update(`${signed.messageId}.${seconds}.`)
      .update(signed.body)
      .digest('base64')}`;

  return [
    ...signed.dialects.map((dialect): Header => [headerName(dialect, 'signature'), jwtOf(dialect)]),
    ['webhook-id', signed.messageId],
    ['webhook-timestamp', String(seconds)],
    ['webhook-signature', `${webhookSignature(keys.current)} ${webhookSignature(keys.next)}`],
  ];
}
