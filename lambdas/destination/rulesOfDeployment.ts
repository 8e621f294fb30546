import { isSharedHost, parseAllowedDestinations, parseOwnHosts } from './addresses.ts';
import type { DestinationRules, HostRules, Scope } from './destination.ts';
import { longTimeoutMs } from '../aws/resources.ts';
import { settings } from '../aws/settings.ts';
import { secondMs } from '../shared/clock.ts';
import { apiHosts } from './apiHosts.ts';
import { isFunction, type AllowedArns } from './arns.ts';

const allowed = parseAllowedDestinations(settings.allowedDestinations);
const configured = parseOwnHosts(settings.ownHosts);

/** The rules for hosts that hold for requests to any API of this deployment. Never rejects. */
export const deploymentRules = async (): Promise<HostRules> => ({
  allowed,
  own: new Set([...configured, ...(await apiHosts())]),
});

/** The part of an account that tells what in AWS its messages may go to, and where a request of it may send messages. */
interface Sending {
  readonly destinations?: readonly string[] | undefined;
  readonly lambdaDestinations?: readonly string[] | undefined;
  readonly scope?: Scope | undefined;
}

/** The destinations in AWS to which messages of an account may go. */
export const allowedArns = ({ destinations = [], lambdaDestinations = [] }: Sending): AllowedArns => ({
  deployment: [...settings.destinations, ...settings.lambdaDestinations],
  account: [...destinations, ...lambdaDestinations],
});

/**
 * The rules that hold for one request: the host that it was sent to is an API's own, too.
 *
 * @param requestHost the host, as the request names it
 */
export async function destinationRules(requestHost: string, account: Sending): Promise<DestinationRules> {
  const { own } = await deploymentRules();
  return {
    allowed,
    own: isSharedHost(requestHost, own) ? own : new Set([...own, ...parseOwnHosts([requestHost])]),
    arns: allowedArns(account),
    scope: account.scope,
  };
}

/**
 * The time that an attempt may take here, in milliseconds. A message that was accepted with a longer one has less of it once the
 * deployment waits for less. A Lambda function has 15 minutes for an invocation, wherever that is awaited.
 */
export const timeoutOf = ({ url, timeoutMs }: { readonly url: string; readonly timeoutMs: number }): number =>
  Math.min(timeoutMs, isFunction(url) ? longTimeoutMs : settings.longestTimeoutSeconds * secondMs);
