import { parseAllowedDestinations, parseOwnHosts } from './addresses.ts';
import type { DestinationRules } from './destination.ts';
import { settings } from '../aws/settings.ts';
import { apiHosts } from './apiHosts.ts';

const allowed = parseAllowedDestinations(settings.allowedDestinations);
const configured = parseOwnHosts(settings.ownHosts);

/** The rules that hold for requests to any API of this deployment. Never rejects. */
export const deploymentRules = async (): Promise<DestinationRules> => ({
  allowed,
  own: new Set([...configured, ...(await apiHosts())]),
});

/**
 * The rules that hold for one request: the host that it was sent to is an API's own, too.
 *
 * @param requestHost the host, as the request names it
 */
export async function destinationRules(requestHost: string): Promise<DestinationRules> {
  const { own } = await deploymentRules();
  return { allowed, own: new Set([...own, ...parseOwnHosts([requestHost])]) };
}
