import type { Account } from './account.ts';
import { defaultRetries, limitsOf } from './account.ts';
import { secondMs } from './clock.ts';
import {
  longestDeduplicationId,
  longestLabel,
  methods,
  mostLabels,
  type CallbackScope,
  type ConfigurationName,
  type Method,
} from './configuration.ts';
import type { CanonicalRequest, Header } from './dialect.ts';
import { ConfigReader } from './dialect.ts';
import { parseUrl, refuseUnsafe, type DestinationRules } from './destination.ts';
import { formatDuration, parseDurationMs } from './duration.ts';
import { checkForwarded, passedOn, withDefaults } from './forwarding.ts';
import { parseFlowControl } from './flowControl.ts';
import { badRequest, overLimit, quote } from './httpError.ts';
import type { CallbackSettings, DeliverySettings } from './message.ts';
import { parseRedaction } from './redaction.ts';
import { parseRetryDelay } from './retryDelay.ts';

/** Everything a publish can be configured with, checked against its account's limits. */
export interface PublishOptions extends Omit<DeliverySettings, 'url'> {
  /** Unix milliseconds. */
  readonly notBefore: number;
  readonly callback?: CallbackSettings | undefined;
  readonly failureCallback?: CallbackSettings | undefined;
  readonly deduplication?: Deduplication | undefined;
}

/** By what a message counts as the same as one before. */
export type Deduplication = { readonly by: 'id'; readonly id: string } | { readonly by: 'content' };

function parseMethod(field: string, value: string): Method {
  const method = methods.find((known) => known === value.toUpperCase());
  if (method === undefined)
    throw badRequest(`${field} is ${quote(value)}; allowed are ${methods.join(', ')}.`);
  return method;
}

function parseBoolean(field: string, value: string): boolean {
  if (/^true$/i.test(value)) return true;
  if (/^false$/i.test(value)) return false;
  throw badRequest(`${field} is ${quote(value)}; allowed are true and false.`);
}

function parseRetries(maxRetries: number): (field: string, value: string) => number {
  return (field, value) => {
    if (!/^\d{1,9}$/.test(value)) {
      throw badRequest(`${field} is ${quote(value)}; allowed is a whole number from 0 to ${maxRetries}.`);
    }
    if (Number(value) > maxRetries) {
      throw overLimit(`${field} is ${value}, but the account's limit max_retries is ${maxRetries}.`);
    }
    return Number(value);
  };
}

function parseTimeoutMs(limitMs: number): (field: string, value: string) => number {
  return (field, value) => {
    const timeoutMs = parseDurationMs(field, value, ['h', 'm', 's']);
    if (timeoutMs === 0) throw badRequest(`${field} is ${quote(value)}; allowed is 1s or more.`);
    return Math.min(timeoutMs, limitMs);
  };
}

function checkDelay(field: string, delayMs: number, account: Account): void {
  const limitSeconds = limitsOf(account).max_delay;
  if (delayMs > limitSeconds * secondMs) {
    throw overLimit(
      `${field} asks for a delay of ${formatDuration(delayMs)}, but the account's limit max_delay is ${limitSeconds} seconds.`,
    );
  }
}

function parseNotBefore(now: number, account: Account): (field: string, value: string) => number {
  return (field, value) => {
    if (!/^\d{1,11}$/.test(value)) {
      throw badRequest(`${field} is ${quote(value)}; allowed is a Unix time in whole seconds.`);
    }
    const notBefore = Number(value) * secondMs;
    checkDelay(field, notBefore - now, account);
    return Math.max(notBefore, now);
  };
}

function parseLabels(field: string, value: string): readonly string[] {
  const labels = value.split(',').map((label) => label.trim());
  if (labels.some((label) => label === '' || label.length > longestLabel) || labels.length > mostLabels) {
    throw badRequest(
      `${field} is ${quote(value)}; allowed are up to ${mostLabels} labels of 1 to ${longestLabel} characters, separated by commas.`,
    );
  }
  return [...new Set(labels)];
}

function parseDeduplication(reader: ConfigReader): Deduplication | undefined {
  const id = reader.single('deduplication-id');
  if (id !== undefined) {
    if (id === '' || id.length > longestDeduplicationId) {
      throw badRequest(
        `${reader.field('deduplication-id')} is ${quote(id)}; allowed are 1 to ${longestDeduplicationId} characters.`,
      );
    }
    return { by: 'id', id };
  }
  return reader.read('content-based-deduplication', parseBoolean) === true ? { by: 'content' } : undefined;
}

/** What is common to a message and to its callbacks. */
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
  };
}

function parseDelayMs(reader: ConfigReader, account: Account): number {
  return (
    reader.read('delay', (field, value) => {
      const delayMs = parseDurationMs(field, value);
      checkDelay(field, delayMs, account);
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
  refuseUnsafe(reader.field(scope), url, rules);
  const inner = reader.scope(scope);
  const forwarded = checkForwarded(inner.forwarded(), (name) => inner.field(`forward-${name}`));
  return {
    ...parseDelivery(inner, account, fallback),
    url,
    headers: withDefaults(forwarded, [json]),
    delayMs: parseDelayMs(inner, account),
  };
}

/**
 * Reads everything a request configures about its message.
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
    headers: withDefaults(forwarded, incoming),
    notBefore: reader.read('not-before', parseNotBefore(now, account)) ?? now + delayMs,
    callback: parseCallback(reader, 'callback', account, rules, settings),
    failureCallback: parseCallback(reader, 'failure-callback', account, rules, settings),
    deduplication: parseDeduplication(reader),
  };
}

/** Which settings a retry changes, by the headers that ask for it. */
const overridable = {
  method: ['method'],
  timeoutMs: ['timeout'],
  maxRetries: ['retries'],
  retryDelay: ['retry-delay'],
  notBefore: ['delay', 'not-before'],
  labels: ['label'],
  flowControl: ['flow-control-key'],
  redaction: ['redact-fields'],
  callback: ['callback'],
  failureCallback: ['failure-callback'],
} as const satisfies Partial<Record<keyof PublishOptions, readonly ConfigurationName[]>>;

/**
 * Reads what a request changes of a message that is sent again: of all that a publish can be configured with, only what
 * is given.
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
