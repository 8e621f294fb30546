import type { Account } from '../../account/account.ts';
import { settings } from '../../aws/settings.ts';
import type { DestinationRules } from '../../destination/destination.ts';
import { canonicalize } from '../../request/dialect.ts';
import { parsePublishOptions, type PublishOptions } from '../../request/publishOptions.ts';
import type { PublishRequest } from '../../publish/prepare.ts';
import { now } from '../../shared/clock.ts';
import { HttpError } from '../../error/httpError.ts';
import { scoped, type Config } from '../../shared/config.ts';
import { readHeaders, type Header } from '../../shared/headers.ts';
import { parseInvoke, type Invoke } from '../rules/invoking.ts';
import { endpointUrl } from './endpointUrl.ts';
import type { TellingConfig } from './namedFailureCallback.ts';
import { ordinaryConfig } from './ordinaryConfig.ts';

const configOf = (headers: readonly Header[]): Config =>
  canonicalize(headers, [], settings.headerPrefixes).config;

export function optionsOfHeaders(
  account: Account,
  prefix: string,
  headers: readonly Header[],
  rules: DestinationRules,
): PublishOptions {
  const ordinary = ordinaryConfig(configOf(headers), false, settings.headerPrefixes);
  return parsePublishOptions({ prefix, config: ordinary, otherHeaders: [] }, account, rules, now());
}

export function configOfInvoker(body: Uint8Array): Config {
  try {
    return configOf(parseInvoke(body).invoker.headers);
  } catch (error) {
    if (!(error instanceof HttpError)) throw error;
    return new Map();
  }
}

/** The headers that a publish with these headers would forward. */
export const forwardedBy = (headers: readonly Header[]): readonly Header[] =>
  [...scoped(configOf(headers), 'forward')].flatMap(([name, values]) =>
    values.map((value): Header => [name, value]),
  );

/**
 * Reads an invoke. Also checks the headers for the result, because the result is sent with them.
 *
 * @throws HttpError as a publish does
 */
export function readInvoke(
  account: Account,
  { body, prefix }: PublishRequest,
  rules: DestinationRules,
): { readonly invoke: Invoke; readonly telling: TellingConfig } {
  const { payload, invoker } = parseInvoke(body);
  const headers = readHeaders('headers', invoker.headers);
  const options = optionsOfHeaders(account, prefix, headers, rules);
  const url = endpointUrl(invoker.url, rules, 'workflowUrl');
  return {
    invoke: { payload, invoker: { ...invoker, url, headers } },
    telling: { config: configOf(headers), options },
  };
}
