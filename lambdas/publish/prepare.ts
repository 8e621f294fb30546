/** Reads a request into the messages that it asks for. Nothing is stored here. */
import type { CanonicalRequest } from '../request/dialect.ts';
import { parsePublishOptions, type PublishOptions } from '../request/publishOptions.ts';
import { limitsOf, type Account } from '../account/account.ts';
import { now } from '../shared/clock.ts';
import { callbackScopes, configOverDefaults } from '../shared/config.ts';
import {
  badDestination,
  isArn,
  parseDestination,
  parseAddress,
  refuseDestination,
  type DestinationRules,
} from '../destination/destination.ts';
import type { Header } from '../shared/headers.ts';
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
  /** A URL or the name of a URL group, as it follows in the raw path. */
  readonly destination: string;
  readonly queueName?: string | undefined;
  readonly body: Uint8Array;
  /** The place of an item in its batch, `[3]`; undefined for a request of its own. */
  readonly place?: string | undefined;
  readonly callerIp: string;
  /** The host of the service that the request was sent to. */
  readonly host: string;
  /** The fire of a schedule that publishes it. */
  readonly fire?: Fire | undefined;
}

/** A schedule's fire. The ids of its messages are derived from it, so that a second fire makes none. */
export interface Fire {
  readonly scheduleId: string;
  /** Unix milliseconds. */
  readonly time: number;
  /** Unguessable, so that the ids are too. */
  readonly seed: string;
}

/** A message that is about to be accepted, with its body. */
export interface Draft {
  readonly message: Message;
  readonly body: Uint8Array;
}

/** The messages that a request asks for. */
export interface Prepared {
  /** The drafts of the messages: one, or one for each endpoint of a URL group. */
  readonly drafts: readonly Draft[];
  readonly isGroup: boolean;
  readonly queueName: string | undefined;
  readonly deduplication: PublishOptions['deduplication'];
}

/** Characters of a destination's URL; gateways on the way to a destination take about as many. */
const longestUrl = 8_192;

/**
 * Adds the request's own query parameters to a destination URL. A gateway hands them over decoded, and with the values of
 * one name together, so they are encoded again the way `encodeURIComponent` does; a destination that needs other bytes or
 * another order is published percent-encoded as a whole.
 */
export function withQuery(url: string, query: readonly Header[]): string {
  if (query.length === 0) return url;
  const added = query
    .map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`)
    .join('&');
  return `${url}${url.includes('?') ? '&' : '?'}${added}`;
}

/**
 * Reads a request and makes its messages: one, or one for each endpoint of a URL group.
 *
 * @param groupOf finds a URL group by its name
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
    throw notFound('url_group_not_found', `There is no URL group ${JSON.stringify(destination.name)}.`);
  }
  const endpoints: readonly Endpoint[] =
    destination.kind === 'group' ? (group?.endpoints ?? []) : [{ url: destination.url }];

  const rules = rulesFor(await destinationRules(request.host, account), group);
  const createdAt = now();
  const config = configOverDefaults(request.config, group?.defaults);
  const { deduplication, ...options } = parsePublishOptions(
    { ...request, config },
    account,
    rules,
    createdAt,
  );
  const circuit = options.circuit ?? (await circuitOfQueue(account.id, queueName));
  const drafts = endpoints.map((endpoint): Draft => {
    const message: Message = {
      ...options,
      circuit,
      url: urlOf(endpoint, request.otherQuery, rules),
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
      expiresAt: expiryOf(options, limits),
    };
    return { message, body };
  });
  return { drafts, isGroup: group !== undefined, queueName, deduplication };
}

/** A token that may publish to a URL group may reach what the group names: its endpoints, and the callbacks of its defaults. */
function rulesFor(rules: DestinationRules, group: UrlGroup | undefined): DestinationRules {
  if (group === undefined || rules.scope === undefined) return rules;
  const callbacks = callbackScopes.flatMap((name) => group.defaults?.get(name) ?? []);
  const urls = [...group.endpoints.map(({ url }) => url), ...callbacks];
  return {
    ...rules,
    scope: rules.scope.withKnown(urls.map((url) => parseAddress('The URL group', url.trim()))),
  };
}

/**
 * Makes the URL of a destination, with the request's own query parameters. A function has no query.
 *
 * @param field the field's name in the error's text
 * @throws HttpError 400 or 403
 */
export function urlOf(
  endpoint: Pick<Endpoint, 'url'>,
  query: readonly Header[],
  rules: DestinationRules,
  field = 'The destination',
): string {
  const [parameter] = query;
  if (parameter !== undefined && isArn(endpoint.url)) {
    throw badDestination(`${field} is an ARN, which takes no query; the request has ${quote(parameter[0])}.`);
  }
  const url = parseAddress(field, withQuery(endpoint.url, query));
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
 * Makes a new message of one that was sent before, with another id, and names that one in it. It holds no slot of a queue for another message, as the
 * callback that it may have been did.
 *
 * @param overrides the settings that change
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
