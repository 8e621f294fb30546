/**
 * The headers that are forwarded to a destination. `request/forwarding.ts` decides which can be forwarded.
 */
import { headerTextForm } from '../shared/bounds.ts';
import { made, headerLists, type Settings } from './option.ts';

export const settings = {
  'forward-*': {
    description:
      'A header for the destination, with the name in place of `*`: `Svc-Forward-X-Tenant: acme` arrives as `X-Tenant: acme`.',
    schema: { type: 'string', pattern: headerTextForm },
    example: 'acme',
    scopes: ['message', 'callback', 'trigger'],
  },
  'header-forward': {
    description:
      'Forwards all headers of the request, except those of the connection, of gateways and of the service. Default: `false`.',
    schema: { type: 'boolean' },
    example: 'true',
    scopes: ['message'],
  },
} as const satisfies Settings;

export const answer = /* @__PURE__ */ made(() => ({
  header: headerLists(
    'The forwarded headers, by name. Read-only tokens see `…` in the place of credentials.',
  ),
}));
