import * as z from 'zod/mini';
import { endpointSignature, type EndpointSignature } from '../account/endpointSecrets.ts';
import type { Readable } from '../options/option.ts';
import { config } from '../table/attributes.ts';
import { shownUrl, withKnownCredentials } from '../shared/urlCredentials.ts';

const endpoint = z.object({
  url: z.string(),
  /** Unique within the group. */
  name: z.optional(z.string()),
  /** When it was added or replaced; undefined until it is stored. */
  addedAt: z.optional(z.number()),
  /** Its own signature, in addition to the service's. */
  signature: z.optional(endpointSignature),
});
export type Endpoint = Readable<z.infer<typeof endpoint>>;

export const urlGroup = z.object({
  accountId: z.string(),
  name: z.string(),
  endpoints: z.array(endpoint),
  /** The configuration of messages that do not override it. */
  defaults: config,
  createdAt: z.number(),
  updatedAt: z.number(),
  /** Incremented by each change, so that concurrent changes are noticed. */
  version: z.number(),
});
export type UrlGroup = Readable<z.infer<typeof urlGroup>>;

export interface ChangedGroup {
  readonly before: UrlGroup | undefined;
  readonly after: UrlGroup | undefined;
}

/** Whether two URLs are the same, apart from credentials. */
export const isSameUrl = (one: string, other: string): boolean => shownUrl(one) === shownUrl(other);

/**
 * Adds endpoints. They replace those with the same name or, without a name, the same URL. URLs are compared
 * without credentials; a new URL without credentials keeps the old ones. A signature keeps its secrets.
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

/** Identifies an endpoint by name, URL, or both. */
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
 * @returns the remaining endpoints, and the keys that matched none
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
