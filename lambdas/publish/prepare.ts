import type { CanonicalRequest } from '../request/dialect.ts';
import { parsePublishOptions, type PublishOptions } from '../request/publishOptions.ts';
import { limitsOf, type Account } from '../account/account.ts';
import { now } from '../shared/clock.ts';
import { callbackScopes } from '../shared/config.ts';
import {
  badDestination,
  isPull,
  isUrl,
  longestOfferMs,
  parseDestination,
  parseEndpoint,
  refuseDestination,
  type DestinationRules,
} from '../destination/destination.ts';
import { headerText, type Header } from '../shared/headers.ts';
import { notFound, quote } from '../error/httpError.ts';
import { derivedId, newId } from '../shared/ids.ts';
import { checkBodySize } from '../message/bodies.ts';
import { expiryOf, type Message } from '../message/message.ts';
import type { Endpoint, UrlGroup } from '../urlGroup/urlGroup.ts';
import { loadUrlGroup } from '../urlGroup/rows.ts';
import { destinationRules } from '../destination/rulesOfDeployment.ts';
import { circuitOfQueue } from '../lane/queues.ts';

export interface PublishRequest extends Pick<
  CanonicalRequest,
  'prefix' | 'config' | 'otherHeaders' | 'otherQuery'
> {
  /** A URL or a URL group's name, from the raw path. */
  readonly destination: string;
  readonly queueName?: string | undefined;
  readonly body: Uint8Array;
  /** An item's place in its batch, `[3]`. */
  readonly place?: string | undefined;
  readonly callerIp: string;
  readonly host: string;
  readonly fire?: Fire | undefined;
}

/** The ids of a fire's messages are derived from this, so a repeated fire makes the same messages. */
interface Fire {
  readonly scheduleId: string;
  readonly time: number;
  /** Random, so that the ids cannot be guessed. */
  readonly seed: string;
}

export interface Draft {
  readonly message: Message;
  readonly body: Uint8Array;
}

export interface Prepared {
  /** One, or one for each endpoint of a URL group. */
  readonly drafts: readonly Draft[];
  readonly isGroup: boolean;
  readonly queueName: string | undefined;
  readonly deduplication: PublishOptions['deduplication'];
}

/** Characters; common gateways have similar limits. */
const longestUrl = 8_192;

/**
 * Adds the request's query parameters to a destination URL. The gateway decodes them and groups values by
 * name, so they are encoded again with `encodeURIComponent`. If a destination needs other bytes or another
 * order, its whole URL must be published percent-encoded.
 */
export function withQuery(url: string, query: readonly Header[]): string {
  if (query.length === 0) return url;
  const added = query
    .map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`)
    .join('&');
  return `${url}${url.includes('?') ? '&' : '?'}${added}`;
}

/**
 * Makes a request's messages: one, or one for each endpoint of a URL group.
 *
 * @throws HttpError 400, 403, 404, 412 or 413
 */
export async function prepare(
  account: Account,
  request: PublishRequest,
  groupOf: (name: string) => Promise<UrlGroup | undefined> = (name) => loadUrlGroup(account.id, name),
): Promise<Prepared> {
  const limits = limitsOf(account);
  const { body, queueName } = request;
  checkBodySize(account, body);
  const destination = parseDestination(request.destination);
  const { scope } = account;
  if (destination.kind === 'group') scope?.refuseGroup('The destination', destination.name);
  if (queueName !== undefined) scope?.refuseQueue('The queue', queueName);
  const group = destination.kind === 'group' ? await groupOf(destination.name) : undefined;
  if (destination.kind === 'group' && group === undefined) {
    // Clients compare the second half of this sentence.
    const { name } = destination;
    throw notFound('url_group_not_found', `There is no URL group "${name}": topic ${name} not found.`);
  }
  const endpoints: readonly Endpoint[] =
    destination.kind === 'group' ? (group?.endpoints ?? []) : [{ url: destination.url }];

  const rules = rulesFor(await destinationRules(request.host, account), group);
  const createdAt = now();
  const { deduplication, ...options } = parsePublishOptions(
    { ...request, defaults: group?.defaults },
    account,
    rules,
    createdAt,
  );
  const circuit = options.circuit ?? (await circuitOfQueue(account.id, queueName));
  const drafts = endpoints.map((endpoint): Draft => {
    const url = urlOf(endpoint, request.otherQuery, rules);
    const deferredMs = options.deferredMs ?? (isPull(url) ? longestOfferMs : undefined);
    const message: Message = {
      ...options,
      deferredMs,
      circuit,
      url,
      topicName: group?.name,
      endpointName: endpoint.name,
      endpointSignature: endpoint.signature && { ...endpoint.signature, readAt: createdAt },
      queueName,
      scheduleId: request.fire?.scheduleId,
      messageId: messageIdFor(account, endpoint, request.fire, createdAt),
      accountId: account.id,
      prefix: request.prefix,
      createdAt,
      callerIp: request.callerIp,
      expiresAt: expiryOf({ ...options, deferredMs }, limits),
    };
    return { message, body };
  });
  return { drafts, isGroup: group !== undefined, queueName, deduplication };
}

/** A token that may publish to a URL group may reach its endpoints and its default callbacks. */
function rulesFor(rules: DestinationRules, group: UrlGroup | undefined): DestinationRules {
  if (group === undefined || rules.scope === undefined) return rules;
  const callbacks = callbackScopes.flatMap((name) => group.defaults?.get(name) ?? []);
  const urls = [...group.endpoints.map(({ url }) => url), ...callbacks];
  return {
    ...rules,
    scope: rules.scope.withKnown(urls.map((url) => parseEndpoint('The URL group', headerText(url).trim()))),
  };
}

/**
 * Makes a destination's URL with the request's query parameters. A function has no query.
 *
 * @throws HttpError 400 or 403
 */
export function urlOf(
  endpoint: Pick<Endpoint, 'url'>,
  query: readonly Header[],
  rules: DestinationRules,
  field = 'The destination',
): string {
  const [parameter] = query;
  if (parameter !== undefined && !isUrl(endpoint.url)) {
    const what = isPull(endpoint.url) ? 'a name' : 'an ARN';
    throw badDestination(
      `${field} is ${what}, which takes no query; the request has ${quote(parameter[0])}.`,
    );
  }
  const url = parseEndpoint(field, withQuery(endpoint.url, query));
  if (url.length > longestUrl) {
    throw badDestination(`${field} has ${url.length} characters; allowed are ${longestUrl}.`);
  }
  refuseDestination(field, url, rules);
  return url;
}

const messageIdFor = (
  { shards }: Account,
  { signature: _signature, ...endpoint }: Endpoint,
  fire: Fire | undefined,
  createdAt: number,
): string =>
  fire === undefined
    ? newId('msg', createdAt, shards)
    : derivedId('msg', fire.time, JSON.stringify([fire, endpoint]));

/**
 * Makes a message that has the earlier one as its origin. Unlike a callback, it keeps no slot for another
 * message.
 *
 * @param overrides the changed settings
 */
export function renewed(
  account: Account,
  message: Message,
  overrides: Partial<PublishOptions>,
  messageId: string,
): Message {
  const createdAt = now();
  const made = {
    ...message,
    createdAt,
    notBefore: createdAt,
    slotOf: undefined,
    change: undefined,
    debounce: undefined,
    ...overrides,
    messageId,
    retriedFrom: message.messageId,
    originMessageId: message.originMessageId ?? message.retriedFrom ?? message.messageId,
    retriedAs: undefined,
  };
  return { ...made, expiresAt: expiryOf(made, limitsOf(account)) };
}
