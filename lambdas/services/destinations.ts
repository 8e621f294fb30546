import { parseAllowedDestinations } from '../domain/addresses.ts';
import type { DestinationRules } from '../domain/destination.ts';
import { settings } from '../settings.ts';

/** What this deployment lets deliveries reach besides public addresses. */
export const allowedDestinations = parseAllowedDestinations(settings.allowedDestinations);

/** @param requestHost the host the request came to, which is the service itself */
export const destinationRules = (requestHost: string): DestinationRules => ({
  allowed: allowedDestinations,
  ownHosts: [...settings.ownHosts, requestHost],
});
