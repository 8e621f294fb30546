import { longestDeduplicationId, longestLabel, mostLabels } from '../shared/bounds.ts';
import { methods, type Method } from '../value/method.ts';
import { type Config, callbackScopes, type CallbackScope } from '../shared/config.ts';
import type { Header } from '../shared/headers.ts';
import { type Account, defaultRetries, limitsOf } from '../account/account.ts';
import { secondMs } from '../shared/clock.ts';
import { type ConfigurationName } from '../options/configuration.ts';
import { type CanonicalRequest, ConfigReader } from './dialect.ts';
import type { Deduplication } from '../value/deduplication.ts';
import { parseUrl, refuseSsrf, type DestinationRules } from '../destination/destination.ts';
import { parseDurationMs } from '../value/duration.ts';
import { checkForwarded, passedOn, addMissingHeaders } from './forwarding.ts';
import { parseFlowControl } from '../value/flowControl.ts';
import { badField, overLimit, quote } from '../error/httpError.ts';
import type { CallbackSettings, DeliverySettings } from '../message/message.ts';
import { parseRedaction } from '../value/redaction.ts';
import { parseRetryDelay } from '../value/retryDelayExpression.ts';
import { withKnownCredentials } from '../shared/urlCredentials.ts';

/** All options of a publish, checked against the account's limits. */
export interface PublishOptions extends Omit<DeliverySettings, 'url'> {
  /** Unix milliseconds. */
  readonly notBefore: number;
  readonly callback?: CallbackSettings | undefined;
  readonly failureCallback?: CallbackSettings | undefined;
  readonly deduplication?: Deduplication | undefined;
}

function parseMethod(field: string, value: string): Method {
  const method = methods.find((known) => known === value.toUpperCase());
  if (method === undefined) throw badField(`${field} is ${quote(value)}; allowed are ${methods.join(', ')}.`);
  return method;
}

function parseBoolean(field: string, value: string): boolean {
  if (/^true$/i.test(value)) return true;
  if (/^false$/i.test(value)) return false;
  throw badField(`${field} is ${quote(value)}; allowed are true and false.`);
}

/** Reads `on` or `off`, in upper or lower case. */
function parseSwitch(field: string, value: string): boolean {
  if (/^on$/i.test(value)) return true;
  if (/^off$/i.test(value)) return false;
  throw badField(`${field} is ${quote(value)}; allowed are on and off.`);
}

function parseRetries(maxRetries: number): (field: string, value: string) => number {
  return (field, value) => {
    if (!/^\d+$/.test(value)) {
      throw badField(`${field} is ${quote(value)}; allowed is a whole number from 0 to ${maxRetries}.`);
    }
    if (Number(value) > maxRetries) {
      throw overLimit(
        'retries_over_limit',
        `${field} is ${Number(value)}, but the account's limit max_retries is ${maxRetries}.`,
      );
    }
    return Number(value);
  };
}

function parseTimeoutMs(limitMs: number): (field: string, value: string) => number {
  return (field, value) => {
    const timeoutMs = parseDurationMs(field, value, ['h', 'm', 's']);
    if (timeoutMs === 0) throw badField(`${field} is ${quote(value)}; allowed is 1s or more.`);
    return Math.min(timeoutMs, limitMs);
  };
}

/** @param value as it was written: a delay may be too long to be written in another way */
function checkDelay(field: string, value: string, delayMs: number, account: Account): void {
  const limitSeconds = limitsOf(account).max_delay;
  if (delayMs > limitSeconds * secondMs) {
    throw overLimit(
      'delay_over_limit',
      `${field} is ${quote(value)}, but the account's limit max_delay is ${limitSeconds} seconds from now.`,
    );
  }
}

function parseNotBefore(now: number, account: Account): (field: string, value: string) => number {
  return (field, value) => {
    if (!/^\d+$/.test(value)) {
      throw badField(`${field} is ${quote(value)}; allowed is a Unix time in whole seconds.`);
    }
    const notBefore = Number(value) * secondMs;
    checkDelay(field, value, notBefore - now, account);
    return Math.max(notBefore, now);
  };
}

/** Characters of Unicode, as JSON Schema counts them. */
const charactersIn = (text: string): number => Array.from(text).length;

function parseLabels(field: string, value: string): readonly string[] {
  const labels = value.split(',').map((label) => label.trim());
  const isLabel = (label: string): boolean => label !== '' && charactersIn(label) <= longestLabel;
  if (!labels.every(isLabel) || labels.length > mostLabels) {
    throw badField(
      `${field} is ${quote(value)}; allowed are up to ${mostLabels} labels of 1 to ${longestLabel} characters, separated by commas.`,
    );
  }
  return [...new Set(labels)];
}

function parseDeduplication(reader: ConfigReader): Deduplication | undefined {
  const id = reader.single('deduplication-id');
  if (id !== undefined) {
    if (id === '' || charactersIn(id) > longestDeduplicationId) {
      throw badField(
        `${reader.field('deduplication-id')} is ${quote(id)}; allowed are 1 to ${longestDeduplicationId} characters.`,
      );
    }
    return { by: 'id', id };
  }
  return reader.read('content-based-deduplication', parseBoolean) === true ? { by: 'content' } : undefined;
}

/** Reads the settings that messages and callbacks have in common. */
function parseDelivery(
  reader: ConfigReader,
  account: Account,
  fallback: Pick<DeliverySettings, 'maxRetries' | 'labels'>,
): Omit<DeliverySettings, 'url' | 'headers'> {
  const limits = limitsOf(account);
  const limitMs = limits.timeout * secondMs;
  const retryDelay = reader.single('retry-delay');
  if (retryDelay !== undefined) parseRetryDelay(reader.field('retry-delay'), retryDelay);
  const flowControl = parseFlowControl(
    { key: reader.field('flow-control-key'), value: reader.field('flow-control-value') },
    reader.single('flow-control-key'),
    reader.single('flow-control-value'),
  );
  if (flowControl?.parallelism !== undefined && flowControl.parallelism > limits.max_parallelism) {
    throw overLimit(
      'parallelism_over_limit',
      `${reader.field('flow-control-value')} asks for a parallelism of ${flowControl.parallelism}, but the account's limit max_parallelism is ${limits.max_parallelism}.`,
    );
  }
  return {
    method: reader.read('method', parseMethod) ?? 'POST',
    maxRetries: reader.read('retries', parseRetries(limits.max_retries)) ?? fallback.maxRetries,
    timeoutMs: reader.read('timeout', parseTimeoutMs(limitMs)) ?? limitMs,
    retryDelay,
    labels: reader.read('label', parseLabels) ?? fallback.labels,
    flowControl,
    redaction: reader.read('redact-fields', parseRedaction),
    circuit: reader.read('circuit', parseSwitch),
  };
}

function parseDelayMs(reader: ConfigReader, account: Account): number {
  return (
    reader.read('delay', (field, value) => {
      const delayMs = parseDurationMs(field, value);
      checkDelay(field, value, delayMs, account);
      return delayMs;
    }) ?? 0
  );
}

const json: Header = ['content-type', 'application/json'];

function parseCallback(
  reader: ConfigReader,
  scope: CallbackScope,
  account: Account,
  rules: DestinationRules,
  fallback: Pick<DeliverySettings, 'maxRetries' | 'labels'>,
): CallbackSettings | undefined {
  const text = reader.single(scope);
  if (text === undefined) return undefined;
  const url = parseUrl(reader.field(scope), text);
  refuseSsrf(reader.field(scope), url, rules);
  const inner = reader.scope(scope);
  const forwarded = checkForwarded(inner.forwarded(), (name) => inner.field(`forward-${name}`));
  return {
    ...parseDelivery(inner, account, fallback),
    url,
    headers: addMissingHeaders(forwarded, [json]),
    delayMs: parseDelayMs(inner, account),
  };
}

/**
 * Reads all that a request configures of its message.
 *
 * @throws HttpError 400 for a malformed value, 403 for a callback URL that is refused, 412 above an account's limit
 */
export function parsePublishOptions(
  request: Pick<CanonicalRequest, 'prefix' | 'config' | 'otherHeaders'>,
  account: Account,
  rules: DestinationRules,
  now: number,
): PublishOptions {
  const reader = new ConfigReader(request.prefix, request.config);
  const settings = parseDelivery(reader, account, { maxRetries: defaultRetries(account), labels: [] });
  const delayMs = parseDelayMs(reader, account);

  const forwarded = checkForwarded(reader.forwarded(), (name) => reader.field(`forward-${name}`));
  const forwardAll = reader.read('header-forward', parseBoolean) ?? false;
  const incoming = forwardAll
    ? passedOn(request.otherHeaders)
    : request.otherHeaders.filter(([name]) => name === 'content-type');

  return {
    ...settings,
    headers: addMissingHeaders(forwarded, incoming),
    notBefore: reader.read('not-before', parseNotBefore(now, account)) ?? now + delayMs,
    callback: parseCallback(reader, 'callback', account, rules, settings),
    failureCallback: parseCallback(reader, 'failure-callback', account, rules, settings),
    deduplication: parseDeduplication(reader),
  };
}

/**
 * Keeps the credentials in the URLs of callbacks when a configuration takes the place of another: `withKnownCredentials` says
 * for which URLs.
 */
export function configWithKnownCredentials(config: Config, before: Config | undefined): Config {
  const urlOf = (from: Config | undefined, name: CallbackScope): string | undefined => {
    const text = from?.get(name)?.[0];
    return text === undefined ? undefined : parseUrl(name, text.trim());
  };
  const urls = callbackScopes.flatMap((name): [string, readonly string[]][] => {
    const url = urlOf(config, name);
    return url === undefined ? [] : [[name, [withKnownCredentials(url, urlOf(before, name))]]];
  });
  return new Map([...config, ...urls]);
}

/** The settings that the retry of a dead letter may change, each with the names that change it. */
const overridable = {
  method: ['method'],
  timeoutMs: ['timeout'],
  maxRetries: ['retries'],
  retryDelay: ['retry-delay'],
  notBefore: ['delay', 'not-before'],
  labels: ['label'],
  flowControl: ['flow-control-key'],
  redaction: ['redact-fields'],
  circuit: ['circuit'],
  callback: ['callback'],
  failureCallback: ['failure-callback'],
} as const satisfies Partial<Record<keyof PublishOptions, readonly ConfigurationName[]>>;

/**
 * Reads the settings that a request changes of a message that is sent again: only those that it gives.
 *
 * @throws as {@link parsePublishOptions}
 */
export function parseOverrides(
  request: Pick<CanonicalRequest, 'prefix' | 'config'>,
  account: Account,
  rules: DestinationRules,
  now: number,
): Partial<PublishOptions> {
  const options = parsePublishOptions({ ...request, otherHeaders: [] }, account, rules, now);
  const given = Object.entries(overridable)
    .filter(([, names]) => names.some((name) => request.config.has(name)))
    .map(([field]) => field);
  return Object.fromEntries(Object.entries(options).filter(([field]) => given.includes(field)));
}
