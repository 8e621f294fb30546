import { limitsOf, type Account } from '../account/account.ts';
import { badField, badRequest, quote } from '../error/httpError.ts';
import { parseDelay, parseNotBefore } from '../options/delay.ts';
import { parse as parseLabels } from '../options/labels.ts';
import type { Given } from '../options/option.ts';
import { parse as parseRetries } from '../options/retries.ts';
import { parse as parseTimeout } from '../options/timeout.ts';
import type { Config } from '../shared/config.ts';
import { headerBytes, headerText, readHeaders, type Header } from '../shared/headers.ts';
import { parseShape } from '../shared/json.ts';
import { messageChange } from '../wire/requests.ts';
import { ConfigReader, canonicalize, type CanonicalRequest } from './dialect.ts';
import { forwardedByName } from './forwarding.ts';

/** The changes that a request makes to a waiting message. Missing settings are undefined. */
export interface MessageChanges {
  /** When the next attempt is to be made. */
  readonly dueAt?: number | undefined;
  readonly maxRetries?: number | undefined;
  readonly timeoutMs?: number | undefined;
  readonly labels?: readonly string[] | undefined;
  /** Headers that replace those of the same names. An empty value removes the header. */
  readonly headers: readonly Header[];
}

const allowed =
  '{"delay"?: "5m" or "notBefore"?: <Unix seconds>, "retries"?: 3, "timeout"?: "30s", "label"?: "<labels>", "headers"?: {"Svc-Forward-<name>": "<value>"}}';

/** The fields of the body, by the publish settings that they set. */
const fieldOf: ReadonlyMap<string, string> = new Map([
  ['delay', 'delay'],
  ['not-before', 'notBefore'],
  ['retries', 'retries'],
  ['timeout', 'timeout'],
  ['label', 'label'],
]);

function textsIn(bytes: Uint8Array) {
  const body = bytes.length === 0 ? {} : parseShape('The body', bytes, messageChange, allowed);
  const { delay, notBefore, retries, timeout, label, headers = [] } = body;
  const given = { delay, 'not-before': notBefore, retries, timeout, label: label?.toString() };
  const fields = Object.entries(given).flatMap(([name, value]): [string, readonly string[]][] =>
    value === undefined ? [] : [[name, [headerBytes(String(value))]]],
  );
  return { fields: new Map(fields), headers: readHeaders('headers', headers) };
}

/**
 * Reads the change of a message: the fields of its body, and publish settings in the headers of the request
 * or of the body. If both are given, the field counts.
 *
 * @param prefixes those that are accepted
 * @throws HttpError 400, or 412 above a limit of the account
 */
export function parseMessageChange(
  request: Pick<CanonicalRequest, 'prefix' | 'config'>,
  body: Uint8Array,
  account: Account,
  prefixes: readonly string[],
  now: number,
): MessageChanges {
  const { fields, headers } = textsIn(body);
  const inBody = canonicalize(headers, [], prefixes);
  const config: Config = new Map([...request.config, ...inBody.config, ...fields]);
  const reader = new ConfigReader(request.prefix, config);
  const inField = (name: string): string | undefined => (fields.has(name) ? fieldOf.get(name) : undefined);
  const fieldNamed = (name: string): string => inField(name) ?? reader.field(name);
  const single = (name: string): string | undefined => {
    const value = config.get(name)?.[0];
    return value && headerText(value).trim();
  };
  const given: Given = {
    field: fieldNamed,
    single,
    read(name, parse) {
      const values = config.get(name) ?? [];
      if (new Set(values).size > 1)
        throw badField(`${fieldNamed(name)} is given ${values.length} times; allowed is once.`);
      const value = single(name);
      return value === undefined ? undefined : parse(fieldNamed(name), value);
    },
  };
  const foreign = [
    ...[...config.keys()]
      .filter((name) => !fieldOf.has(name) && !name.startsWith('forward-'))
      .map(fieldNamed),
    ...inBody.otherHeaders
      .map(([name]) => `headers.${name}`)
      .filter((name) => name !== 'headers.content-type'),
  ];
  if (foreign[0] !== undefined) {
    throw badRequest(
      'field_unknown',
      `${quote(foreign[0])} cannot be changed; allowed are delay, notBefore, retries, timeout, label, Content-Type and Svc-Forward-*.`,
    );
  }
  if (config.size === 0 && inBody.otherHeaders.length === 0)
    throw badRequest('body_invalid', `The request changes nothing; allowed is ${allowed}.`);
  const limits = limitsOf(account);
  const delayMs = parseDelay(given, limits);
  return {
    dueAt: parseNotBefore(given, limits, now) ?? (delayMs === undefined ? undefined : now + delayMs),
    maxRetries: parseRetries(given, limits),
    timeoutMs: parseTimeout(given, limits),
    labels: config.get('label')?.join() === '' ? [] : parseLabels(given),
    headers: [
      ...forwardedByName(reader.forwarded(), (name) => reader.field(`forward-${name}`)),
      ...inBody.otherHeaders,
    ],
  };
}
