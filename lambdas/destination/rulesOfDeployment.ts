import { parseAllowedDestinations, parseOwnHosts } from './addresses.ts';
import type { DestinationRules, HostRules, Scope } from './destination.ts';
import { settings } from '../aws/settings.ts';
import { apiHosts } from './apiHosts.ts';
import type { AllowedFunctions } from './functions.ts';

const allowed = parseAllowedDestinations(settings.allowedDestinations);
const configured = parseOwnHosts(settings.ownHosts);

/** The rules for hosts that hold for requests to any API of this deployment. Never rejects. */
export const deploymentRules = async (): Promise<HostRules> => ({
  allowed,
  own: new Set([...configured, ...(await apiHosts())]),
});

/** The part of an account that tells which functions it may invoke, and where a request of it may send messages. */
interface Invoking {
  readonly lambdaDestinations?: readonly string[] | undefined;
  readonly scope?: Scope | undefined;
}

/** The functions to which messages of an account may go. */
export const functionsOf = ({ lambdaDestinations = [] }: Invoking): AllowedFunctions => ({
  deployment: settings.lambdaDestinations,
  account: lambdaDestinations,
});

/**
 * The rules that hold for one request: the host that it was sent to is an API's own, too.
 *
 * @param requestHost the host, as the request names it
 */
export async function destinationRules(requestHost: string, account: Invoking): Promise<DestinationRules> {
  const { own } = await deploymentRules();
  return {
    allowed,
    own: new Set([...own, ...parseOwnHosts([requestHost])]),
    functions: functionsOf(account),
    scope: account.scope,
  };
}
