/** Reads a request to wait for an event. Nothing is stored here. */
import { checkBodySize } from '../../message/bodies.ts';
import type { PublishOptions } from '../../request/publishOptions.ts';
import { limitsOf, type Account } from '../../account/account.ts';
import { secondMs } from '../../shared/clock.ts';
import { formatDuration } from '../../value/duration.ts';
import { readHeaders, type Header } from '../../shared/headers.ts';
import { overLimit } from '../../error/httpError.ts';
import { passedOn } from '../../request/forwarding.ts';
import { checkEventId } from '../rules/step.ts';
import { parseWait, type Wait } from '../requestedWait.ts';
import type { CanonicalRequest } from '../../request/dialect.ts';
import { destinationRules } from '../../destination/rulesOfDeployment.ts';
import { optionsOfHeaders } from '../steps/bodyHeaders.ts';
import { endpointUrl } from '../steps/endpointUrl.ts';

export interface WaitRequest {
  readonly eventId: string;
  readonly canonical: CanonicalRequest;
  /** All headers of the request; names in lower case. */
  readonly headers: readonly Header[];
  readonly body: Uint8Array;
  /** The host of this service in the request. */
  readonly host: string;
}

export interface PreparedWait extends Wait {
  /** Headers of the request that may be shown. */
  readonly headers: readonly Header[];
  readonly options: PublishOptions;
  readonly timeoutForwarded: readonly Header[];
}

export async function prepareWait(account: Account, request: WaitRequest): Promise<PreparedWait> {
  const limits = limitsOf(account);
  const { body, canonical } = request;
  checkBodySize(account, body);
  checkEventId(request.eventId);
  const wait = parseWait(body);
  if (wait.timeoutMs > limits.max_delay * secondMs) {
    throw overLimit(
      'delay_over_limit',
      `timeout is ${formatDuration(wait.timeoutMs)}, but the account's limit max_delay is ${limits.max_delay} seconds.`,
    );
  }
  const rules = await destinationRules(request.host, account);
  const optionsOf = (headers: readonly Header[]): PublishOptions =>
    optionsOfHeaders(account, canonical.prefix, headers, rules);
  const timeoutHeaders = readHeaders('timeoutHeaders', wait.timeoutHeaders);
  return {
    ...wait,
    url: endpointUrl(wait.url, rules, 'url'),
    timeoutUrl: endpointUrl(wait.timeoutUrl, rules, 'timeoutUrl'),
    // Removes tokens of the service.
    timeoutHeaders: passedOn(timeoutHeaders),
    headers: passedOn(request.headers),
    options: optionsOf(request.headers),
    timeoutForwarded: optionsOf(timeoutHeaders).headers,
  };
}
