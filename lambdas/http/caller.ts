import { senderIn } from './functionUrl/sender.ts';
import type { ApiRequest } from './request.ts';
import { authenticate } from '../account/authenticate.ts';
import { bearerToken } from '../account/credentials.ts';
import { settings } from '../aws/settings.ts';
import { HttpError } from '../error/httpError.ts';
import type { Header } from '../shared/headers.ts';
import { canonicalize, type CanonicalRequest } from '../request/dialect.ts';

/** Finds the token: in the query, for senders that can set only a URL, or in the header. */
export const tokenOf = (
  headers: readonly Header[],
  { queryToken }: Pick<CanonicalRequest, 'queryToken'>,
): string | undefined => queryToken ?? bearerToken(headers);

/**
 * Finds a request's account before its body is read.
 *
 * @param headers names in lower case
 * @param query decoded
 * @returns undefined if the token is missing or refused
 * @throws if the account cannot be read
 */
export async function accountOf(
  headers: readonly Header[],
  query: readonly Header[],
): Promise<string | undefined> {
  try {
    const token = tokenOf(headers, canonicalize(headers, query, settings.headerPrefixes));
    return (await authenticate(token)).account.id;
  } catch (error) {
    if (error instanceof HttpError && error.status === 401) return undefined;
    throw error;
  }
}

/** The address of the sender. If the publish URL has passed the request on, the original sender. */
export const callerIpOf = async ({ headers, callerIp }: ApiRequest): Promise<string> =>
  (await senderIn(headers)) ?? callerIp;
