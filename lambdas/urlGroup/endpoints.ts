import { limitsOf, type Account } from '../account/account.ts';
import type { Changes } from '../audit/changes.ts';
import { now } from '../shared/clock.ts';
import { badDestination, parseEndpoint, refuseDestination } from '../destination/destination.ts';
import { type HttpError, badField, notFound, overLimit, quote } from '../error/httpError.ts';
import { parseShape } from '../shared/json.ts';
import type { EndpointsAdded } from '../wire/urlGroupAnswers.ts';
import { addedEndpoints, removedEndpoints } from '../wire/requests.ts';
import { quoteUrl } from '../shared/urlCredentials.ts';
import { newSecrets, readSignature } from './signatures.ts';
import { isSameUrl, withEndpoints, withoutEndpoints, type Endpoint, type EndpointKey } from './urlGroup.ts';
import { listUrlGroups } from './rows.ts';
import { destinationRules } from '../destination/rulesOfDeployment.ts';
import { type GroupRequest, changeGroup, groupChanges, noSuchGroup } from './urlGroups.ts';

/** Characters. A hundred endpoints of this length fit into a group's row of 400 KB. */
const longestEndpointUrl = 2_048;

async function readEndpoints(account: Account, request: GroupRequest): Promise<readonly Endpoint[]> {
  const allowed =
    '{"endpoints": [{"url", "name"?, "signature"?: {"header", "encoding": "hex" or "base64", "prefix"?}}]} with at least one endpoint';
  const { endpoints } = parseShape('The body', request.body, addedEndpoints, allowed);
  const rules = await destinationRules(request.host, account);
  const read = endpoints.map(async ({ url, name, signature }, index): Promise<Endpoint> => {
    const field = `endpoints.${index}.url`;
    const parsed = parseEndpoint(field, url);
    if (parsed.length > longestEndpointUrl) {
      throw badDestination(`${field} has ${parsed.length} characters; allowed are ${longestEndpointUrl}.`);
    }
    refuseDestination(field, parsed, rules);
    const isTwice = endpoints.some(
      (other, place) =>
        place < index && (name === undefined ? isSameUrl(other.url, url) : other.name === name),
    );
    if (isTwice)
      throw badField(`endpoints.${index} is there twice, by its ${name === undefined ? 'url' : 'name'}.`);
    return {
      url: parsed,
      name,
      signature: signature && (await readSignature(`endpoints.${index}.signature`, signature)),
    };
  });
  return Promise.all(read);
}

async function checkCapacity(account: Account, name: string): Promise<void> {
  const { max_topics: most } = limitsOf(account);
  const groups = await listUrlGroups(account.id);
  if (groups.length >= most && !groups.some((group) => group.name === name)) {
    throw overLimit(
      'url_group_limit_reached',
      `The URL group ${quote(name)} would be number ${groups.length + 1}, but the account's limit max_topics is ${most}.`,
    );
  }
}

/**
 * Adds or updates endpoints. If the group does not exist, creates it.
 *
 * @returns the secrets of new signatures
 * @throws HttpError 400, 403 or 412
 */
export async function addEndpoints(
  account: Account,
  request: GroupRequest,
): Promise<{ readonly body: EndpointsAdded; readonly changes: Changes }> {
  const { name } = request;
  const endpoints = await readEndpoints(account, request);
  const { max_endpoints_per_topic: most } = limitsOf(account);
  const changed = await changeGroup(account, name, async (group) => {
    if (group === undefined) await checkCapacity(account, name);
    const time = now();
    const added = endpoints.map((endpoint) => ({ ...endpoint, addedAt: time }));
    const all = withEndpoints(group?.endpoints ?? [], added);
    if (all.length > most) {
      throw overLimit(
        'endpoint_limit_reached',
        `The URL group ${quote(name)} would have ${all.length} endpoints, but the account's limit max_endpoints_per_topic is ${most}.`,
      );
    }
    const empty = { accountId: account.id, name, defaults: new Map(), createdAt: time, version: 0 };
    return { ...(group ?? empty), endpoints: all, updatedAt: time };
  });
  const secrets = await newSecrets(changed);
  return {
    body: secrets.length === 0 ? {} : { endpoints: secrets },
    changes: groupChanges(changed, request.prefix),
  };
}

/** @throws HttpError 400 for a key without a URL or a name */
export function refuseUnnamed(keys: readonly EndpointKey[], allowed: string): void {
  const unnamed = keys.findIndex((key) => key.url === undefined && key.name === undefined);
  if (unnamed !== -1) throw badField(`endpoints.${unnamed} has neither url nor name; allowed is ${allowed}.`);
}

export const noSuchEndpoint = (group: string, { name, url = '' }: EndpointKey): HttpError =>
  notFound(
    'endpoint_not_found',
    `The URL group ${quote(group)} has no endpoint ${name === undefined ? quoteUrl(url) : quote(name)}.`,
  );

/**
 * Removes endpoints by URL, name, or both. A group that has no more endpoints is deleted.
 *
 * @throws HttpError 400 or 404
 */
export async function removeEndpoints(account: Account, request: GroupRequest): Promise<Changes> {
  const { name } = request;
  const allowed = '{"endpoints": [{"url"?, "name"?}]} with at least one endpoint';
  const { endpoints: keys } = parseShape('The body', request.body, removedEndpoints, allowed);
  refuseUnnamed(keys, allowed);
  const changed = await changeGroup(account, name, (group) => {
    if (group === undefined) throw noSuchGroup(name);
    const { left, unknown } = withoutEndpoints(group.endpoints, keys);
    const [first] = unknown;
    if (first !== undefined) throw noSuchEndpoint(name, first);
    return left.length === 0 ? null : { ...group, endpoints: left, updatedAt: now() };
  });
  return groupChanges(changed, request.prefix);
}
