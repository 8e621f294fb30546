import { limitsOf, type Account } from '../domain/account.ts';
import { now } from '../domain/clock.ts';
import { parseDestination, parseUrl, refuseUnsafe } from '../domain/destination.ts';
import type { CanonicalRequest, Header } from '../domain/dialect.ts';
import { badRequest, HttpError, notFound } from '../domain/httpError.ts';
import { newId } from '../domain/ids.ts';
import { expiryOf, type Message } from '../domain/message.ts';
import { parsePublishOptions } from '../domain/options.ts';
import { accept } from './accept.ts';
import { destinationRules } from './destinations.ts';

export interface PublishRequest extends CanonicalRequest {
  /** What follows in the raw path. */
  readonly destination: string;
  readonly body: Uint8Array;
  readonly callerIp: string;
  /** The host that the request came to. */
  readonly host: string;
}

/**
 * A destination URL with the request's own query parameters behind those it has. A gateway hands them over decoded, so
 * and with the values of one name together, so they are encoded again the way `encodeURIComponent` does; a destination
 * that needs other bytes or another order is published percent-encoded as a whole.
 */
function withQuery(url: string, query: readonly Header[]): string {
  if (query.length === 0) return url;
  const added = query
    .map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`)
    .join('&');
  return `${url}${url.includes('?') ? '&' : '?'}${added}`;
}

/**
 * Publishes one message.
 *
 * @throws HttpError 400, 403, 404, 412 or 413; nothing is stored then
 */
export async function publish(
  account: Account,
  request: PublishRequest,
): Promise<{ readonly messageId: string }> {
  const limits = limitsOf(account);
  if (request.body.length > limits.max_message_size) {
    throw new HttpError(
      413,
      `The body has ${request.body.length} bytes, but the account's limit max_message_size is ${limits.max_message_size} bytes.`,
    );
  }
  const destination = parseDestination(request.destination);
  if (destination.kind === 'group')
    throw notFound(`There is no URL group ${JSON.stringify(destination.name)}.`);
  const url = parseUrl('The destination', withQuery(destination.url, request.otherQuery));
  if (url.length > longestUrl)
    throw badRequest(`The destination has ${url.length} characters; allowed are ${longestUrl}.`);

  const rules = destinationRules(request.host);
  refuseUnsafe('The destination', url, rules);
  const createdAt = now();
  const options = parsePublishOptions(request, account, rules, createdAt);
  const message: Message = {
    ...options,
    url,
    messageId: newId('msg', createdAt),
    accountId: account.id,
    prefix: request.prefix,
    createdAt,
    callerIp: request.callerIp,
    expiresAt: expiryOf(options, limits.max_dlq_retention_time_milis),
  };
  await accept(message, request.body);
  return { messageId: message.messageId };
}

/** A gateway's own limit on a URL is close to this; what is longer would not fit in a row's index either. */
const longestUrl = 8_192;
