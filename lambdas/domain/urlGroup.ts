import type { Config } from './dialect.ts';

export interface Endpoint {
  readonly url: string;
  /** Within the group. */
  readonly name?: string | undefined;
}

/** A name for several endpoints: what is published to it is published to each. */
export interface UrlGroup {
  readonly accountId: string;
  readonly name: string;
  readonly endpoints: readonly Endpoint[];
  /** Configuration of every message to the group, unless the request says otherwise. */
  readonly defaults: Config;
  /** Unix milliseconds. */
  readonly createdAt: number;
  readonly updatedAt: number;
  /** Raised by each change: of two changes at once, one is made on the other's outcome. */
  readonly version: number;
}

/** Endpoints with others added; one that is there already, by its name or else by its URL, is replaced in its place. */
export function withEndpoints(
  endpoints: readonly Endpoint[],
  added: readonly Endpoint[],
): readonly Endpoint[] {
  const result = [...endpoints];
  for (const endpoint of added) {
    const named = endpoint.name === undefined ? -1 : result.findIndex(({ name }) => name === endpoint.name);
    const place = named === -1 ? result.findIndex(({ url }) => url === endpoint.url) : named;
    if (place === -1) result.push(endpoint);
    else result[place] = endpoint;
  }
  return result;
}

/** What names an endpoint to remove: its name, its URL, or both. */
export interface EndpointKey {
  readonly url?: string | undefined;
  readonly name?: string | undefined;
}

const isNamedBy = (endpoint: Endpoint, key: EndpointKey): boolean =>
  (key.name === undefined || key.name === endpoint.name) &&
  (key.url === undefined || key.url === endpoint.url);

/** @returns the endpoints that stay, and the keys that named none */
export function withoutEndpoints(
  endpoints: readonly Endpoint[],
  keys: readonly EndpointKey[],
): { readonly left: readonly Endpoint[]; readonly unknown: readonly EndpointKey[] } {
  return {
    left: endpoints.filter((endpoint) => !keys.some((key) => isNamedBy(endpoint, key))),
    unknown: keys.filter((key) => !endpoints.some((endpoint) => isNamedBy(endpoint, key))),
  };
}
