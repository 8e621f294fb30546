import type { EndpointSignature } from '../account/endpointSecrets.ts';
import type { Config } from '../shared/config.ts';
import { shownUrl, withKnownCredentials } from '../shared/urlCredentials.ts';

export interface Endpoint {
  readonly url: string;
  /** Unique within the group. */
  readonly name?: string | undefined;
  /** When it was added or last replaced, Unix milliseconds. Endpoints of older releases have none. */
  readonly addedAt?: number | undefined;
  /** The signature that its deliveries have besides the service's own. */
  readonly signature?: EndpointSignature | undefined;
}

/** A name for several endpoints: what is published to it is published to each. */
export interface UrlGroup {
  readonly accountId: string;
  readonly name: string;
  readonly endpoints: readonly Endpoint[];
  /** The configuration of a message to the group whose request does not say otherwise. */
  readonly defaults: Config;
  /** Unix milliseconds. */
  readonly createdAt: number;
  readonly updatedAt: number;
  /** Raised by each change, so that one of two changes at once sees the other. */
  readonly version: number;
}

/** A group before a change and after it; undefined where there is none. */
export interface ChangedGroup {
  readonly before: UrlGroup | undefined;
  readonly after: UrlGroup | undefined;
}

/** Tells whether two URLs name the same endpoint: they may differ in their credentials. */
export const isSameUrl = (one: string, other: string): boolean => shownUrl(one) === shownUrl(other);

/**
 * Adds endpoints. One that is there already, by its name or else by its URL, is replaced. URLs are compared without their
 * credentials; where the new URL has none, those of the old one are kept. A signature is kept with its secrets.
 */
export function withEndpoints(
  endpoints: readonly Endpoint[],
  added: readonly Endpoint[],
): readonly Endpoint[] {
  const result = [...endpoints];
  for (const endpoint of added) {
    const named = endpoint.name === undefined ? -1 : result.findIndex(({ name }) => name === endpoint.name);
    const place = named === -1 ? result.findIndex(({ url }) => isSameUrl(url, endpoint.url)) : named;
    const known = result[place];
    if (known === undefined) result.push(endpoint);
    else
      result[place] = {
        ...endpoint,
        url: withKnownCredentials(endpoint.url, known.url),
        signature: withKnownSecrets(endpoint.signature, known.signature),
      };
  }
  return result;
}

function withKnownSecrets(
  added: EndpointSignature | undefined,
  known: EndpointSignature | undefined,
): EndpointSignature | undefined {
  if (added === undefined || known === undefined) return added ?? known;
  const { header, encoding, prefix } = added;
  return { ...known, header, encoding, prefix };
}

/** Names an endpoint: by its name, its URL, or both. */
export interface EndpointKey {
  readonly url?: string | undefined;
  readonly name?: string | undefined;
}

export const isNamedBy = (endpoint: Endpoint, key: EndpointKey): boolean =>
  (key.name === undefined || key.name === endpoint.name) &&
  (key.url === undefined || isSameUrl(key.url, endpoint.url));

/**
 * Removes endpoints.
 *
 * @returns the endpoints that are left, and the keys that named no endpoint
 */
export function withoutEndpoints(
  endpoints: readonly Endpoint[],
  keys: readonly EndpointKey[],
): { readonly left: readonly Endpoint[]; readonly unknown: readonly EndpointKey[] } {
  return {
    left: endpoints.filter((endpoint) => !keys.some((key) => isNamedBy(endpoint, key))),
    unknown: keys.filter((key) => !endpoints.some((endpoint) => isNamedBy(endpoint, key))),
  };
}
