import { limitsOf, type Account } from '../account/account.ts';
import { HttpError } from '../shared/httpError.ts';

/** @throws HttpError 413 for a body above the account's limit */
export function checkBodySize(account: Account, body: Uint8Array): void {
  const most = limitsOf(account).max_message_size;
  if (body.length <= most) return;
  throw new HttpError(
    413,
    'body_too_large',
    `The body has ${body.length} bytes, but the account's limit max_message_size is ${most} bytes.`,
  );
}
