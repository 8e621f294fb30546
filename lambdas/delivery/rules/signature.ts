import { type Header, headerName } from '../../shared/headers.ts';
import { createHash, createHmac } from 'node:crypto';
import jws from 'jws';
import type { SigningKeys } from '../../account/credentials.ts';
import { shownUrl } from '../../shared/urlCredentials.ts';

/** A receiver may accept a delivery for this long after it was signed. */
const validSeconds = 300;

export interface Signed {
  readonly messageId: string;
  /** The receiver knows it without `user:password`, and compares it with the claim `sub`. */
  readonly url: string;
  readonly body: Uint8Array;
  /** The prefix of the message's headers, and the JWT's issuer. */
  readonly prefix: string;
  /** Unix milliseconds. */
  readonly signedAt: number;
}

/** Makes the signature headers of a delivery: the JWT, and those of the Standard Webhooks specification. */
export function signatureHeaders(keys: SigningKeys, signed: Signed): readonly Header[] {
  const seconds = Math.floor(signed.signedAt / 1000);
  const jwt = jws.sign({
    header: { alg: 'HS256', typ: 'JWT' },
    payload: {
      body: createHash('sha256').update(signed.body).digest('base64url'),
      iss: signed.prefix,
      sub: shownUrl(signed.url),
      iat: seconds,
      nbf: seconds,
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
    [headerName(signed.prefix, 'signature'), jwt],
    ['webhook-id', signed.messageId],
    ['webhook-timestamp', String(seconds)],
    ['webhook-signature', `${webhookSignature(keys.current)} ${webhookSignature(keys.next)}`],
  ];
}
