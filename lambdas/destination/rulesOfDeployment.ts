import { isSharedHost, parseAllowedDestinations, parseOwnHosts } from './addresses.ts';
import type { DestinationRules, HostRules, Scope } from './destination.ts';
import { longTimeoutMs } from '../aws/resources.ts';
import { settings } from '../aws/settings.ts';
import { secondMs } from '../shared/clock.ts';
import { apiHosts } from './apiHosts.ts';
import { isFunction, type AllowedArns } from './arns.ts';

const allowed = parseAllowedDestinations(settings.allowedDestinations);
const configured = new Set(parseOwnHosts(settings.ownHosts));

/** Adds own hosts that became known after this process started. */
export function addOwnHosts(hosts: readonly string[]): void {
  for (const host of parseOwnHosts(hosts)) configured.add(host);
}

/** Never rejects. */
export const deploymentRules = async (): Promise<HostRules> => ({
  allowed,
  own: new Set([...configured, ...(await apiHosts())]),
});

interface Sending {
  readonly destinations?: readonly string[] | undefined;
  readonly lambdaDestinations?: readonly string[] | undefined;
  readonly scope?: Scope | undefined;
}

export const allowedArns = ({ destinations = [], lambdaDestinations = [] }: Sending): AllowedArns => ({
  deployment: [...settings.destinations, ...settings.lambdaDestinations],
  account: [...destinations, ...lambdaDestinations],
});

/**
 * The host to which the request was sent is also an own host.
 *
 * @param requestHost as the request names it
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
 * The timeout in milliseconds, at most the deployment's current limit. A Lambda function has 15 minutes for
 * each invocation.
 */
export const timeoutOf = ({ url, timeoutMs }: { readonly url: string; readonly timeoutMs: number }): number =>
  Math.min(timeoutMs, isFunction(url) ? longTimeoutMs : settings.longestTimeoutSeconds * secondMs);
