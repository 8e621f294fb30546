import { parse as parseDeduplication, type Debounce, type Deduplication } from '../options/deduplication.ts';
import { parseDelay, parseNotBefore } from '../options/delay.ts';
import { parseBoolean, type Every } from '../options/option.ts';
import { defined, parseGiven, parseGone, type DeliveryOptions, type Gone } from '../options/options.ts';
import { type Config, callbackScopes, configOverDefaults, type CallbackScope } from '../shared/config.ts';
import { headerText, type Header } from '../shared/headers.ts';
import { type Account, defaultRetries, limitsOf } from '../account/account.ts';
import { secondMs } from '../shared/clock.ts';
import { type CanonicalRequest, ConfigReader } from './dialect.ts';
import { parseAddress, refuseDestination, type DestinationRules } from '../destination/destination.ts';
import { forwardedByName, passedOn, addMissingHeaders } from './forwarding.ts';
import { withTrace } from './traceContext.ts';
import type { CallbackSettings, DeliverySettings } from '../message/message.ts';
import { parseRetryDelay } from '../value/retryDelayExpression.ts';
import { withKnownCredentials } from '../shared/urlCredentials.ts';

/** All options of a publish, checked against the account's limits. */
export interface PublishOptions extends Omit<DeliverySettings, 'url'> {
  readonly notBefore: number;
  readonly callback?: CallbackSettings | undefined;
  readonly failureCallback?: CallbackSettings | undefined;
  readonly deduplication?: Deduplication | Debounce | undefined;
  readonly gone?: Gone;
}

const givenIn = (reader: ConfigReader, account: Account): Every<Partial<DeliveryOptions>> =>
  parseGiven(reader, limitsOf(account), parseRetryDelay);

type Fallback = Pick<DeliveryOptions, 'maxRetries' | 'labels'>;

const withDefaults = (
  given: Partial<DeliveryOptions>,
  account: Account,
  fallback: Fallback,
): DeliveryOptions => ({
  ...given,
  method: given.method ?? 'POST',
  maxRetries: given.maxRetries ?? fallback.maxRetries,
  timeoutMs: given.timeoutMs ?? limitsOf(account).timeout * secondMs,
  labels: given.labels ?? fallback.labels,
});

const json: Header = ['content-type', 'application/json'];

function parseCallback(
  reader: ConfigReader,
  scope: CallbackScope,
  account: Account,
  rules: DestinationRules,
  fallback: Fallback,
): CallbackSettings | undefined {
  const text = reader.single(scope);
  if (text === undefined) return undefined;
  const url = parseAddress(reader.field(scope), text);
  refuseDestination(reader.field(scope), url, rules);
  const inner = reader.scope(scope);
  const forwarded = forwardedByName(inner.forwarded(), (name) => inner.field(`forward-${name}`));
  return {
    ...withDefaults(givenIn(inner, account), account, fallback),
    url,
    headers: addMissingHeaders(forwarded, [json]),
    delayMs: parseDelay(inner, limitsOf(account)) ?? 0,
  };
}

interface Request extends Pick<CanonicalRequest, 'prefix' | 'config' | 'otherHeaders'> {
  /** The configuration of a URL group. */
  readonly defaults?: Config | undefined;
}

/** Reads a message's whole configuration, and also only the part that the request gives. */
function parse(request: Request, account: Account, rules: DestinationRules, now: number) {
  const config = account.scope?.own(request.config) ?? request.config;
  const reader = new ConfigReader(request.prefix, configOverDefaults(config, request.defaults));
  const limits = limitsOf(account);
  const given = givenIn(reader, account);
  const settings = withDefaults(given, account, { maxRetries: defaultRetries(account), labels: [] });
  const delayMs = parseDelay(reader, limits);

  const forwarded = forwardedByName(reader.forwarded(), (name) => reader.field(`forward-${name}`));
  const forwardAll = reader.read('header-forward', parseBoolean) ?? false;
  const incoming = forwardAll
    ? passedOn(request.otherHeaders)
    : request.otherHeaders.filter(([name]) => name === 'content-type');

  const notBefore =
    parseNotBefore(reader, limits, now) ?? (delayMs === undefined ? undefined : now + delayMs);
  const callbacks = {
    callback: parseCallback(reader, 'callback', account, rules, settings),
    failureCallback: parseCallback(reader, 'failure-callback', account, rules, settings),
  };
  const gone = parseGone(reader);
  const options: PublishOptions = {
    ...settings,
    gone,
    headers: withTrace(addMissingHeaders(forwarded, incoming), request.otherHeaders),
    notBefore: notBefore ?? now,
    ...callbacks,
    deduplication: parseDeduplication(reader, account.scope?.token),
  };
  return { options, given: { ...given, gone, notBefore, ...callbacks } };
}

/**
 * Reads a message's full configuration.
 *
 * @throws HttpError 400 for a malformed value, 403 for a refused callback URL, 412 above an account's limit
 */
export const parsePublishOptions = (
  request: Request,
  account: Account,
  rules: DestinationRules,
  now: number,
): PublishOptions => parse(request, account, rules, now).options;

/** Keeps the credentials in callback URLs when a configuration is replaced; see `withKnownCredentials`. */
export function configWithKnownCredentials(config: Config, before: Config | undefined): Config {
  const urlOf = (from: Config | undefined, name: CallbackScope): string | undefined => {
    const text = from?.get(name)?.[0];
    return text === undefined ? undefined : parseAddress(name, headerText(text).trim());
  };
  const urls = callbackScopes.flatMap((name): [string, readonly string[]][] => {
    const url = urlOf(config, name);
    return url === undefined ? [] : [[name, [withKnownCredentials(url, urlOf(before, name))]]];
  });
  return new Map([...config, ...urls]);
}

/**
 * Reads only the settings in a request that sends a message again.
 *
 * @throws HttpError as {@link parsePublishOptions} does
 */
export function parseOverrides(
  request: Pick<CanonicalRequest, 'prefix' | 'config'>,
  account: Account,
  rules: DestinationRules,
  now: number,
): Partial<PublishOptions> {
  return defined(parse({ ...request, otherHeaders: [] }, account, rules, now).given);
}

export function parseCallbackOverrides(
  { prefix, config }: Pick<CanonicalRequest, 'prefix' | 'config'>,
  scope: CallbackScope,
  account: Account,
): Partial<CallbackSettings> {
  const reader = new ConfigReader(prefix, config, scope);
  return defined({ ...givenIn(reader, account), delayMs: parseDelay(reader, limitsOf(account)) });
}
