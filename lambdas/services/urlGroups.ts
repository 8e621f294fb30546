import { limitsOf, type Account } from '../domain/account.ts';
import type * as answers from '../domain/answers.ts';
import type { Answer } from '../domain/answers.ts';
import { now } from '../domain/clock.ts';
import { parseUrl, refuseUnsafe } from '../domain/destination.ts';
import { canonicalize, headerName, type Config } from '../domain/dialect.ts';
import { readHeaders } from '../domain/headers.ts';
import { badRequest, type HttpError, notFound, overLimit, quote } from '../domain/httpError.ts';
import { parseShape } from '../domain/json.ts';
import { parseName } from '../domain/names.ts';
import { parsePublishOptions } from '../domain/options.ts';
import { addedEndpoints, groupDefaults, removedEndpoints } from '../domain/requests.ts';
import { withEndpoints, withoutEndpoints, type Endpoint, type UrlGroup } from '../domain/urlGroup.ts';
import { settings } from '../settings.ts';
import { deleteUrlGroup, listUrlGroups, loadUrlGroup, saveUrlGroup } from '../stores/urlGroups.ts';
import { changing } from './changing.ts';
import { destinationRules } from './destinations.ts';

/** What a change to a group is asked with. */
export interface GroupRequest {
  readonly name: string;
  readonly body: Uint8Array;
  /** The dialect in which headers are shown. */
  readonly prefix: string;
  readonly host: string;
}

function record(group: UrlGroup, prefix: string): Answer<typeof answers.urlGroup> {
  const headers = [...group.defaults].map(([name, values]) => [headerName(prefix, name), values] as const);
  return {
    name: group.name,
    createdAt: group.createdAt,
    updatedAt: group.updatedAt,
    endpoints: group.endpoints,
    headers: Object.fromEntries(headers),
  };
}

const noSuchGroup = (name: string): HttpError => notFound(`There is no URL group ${quote(name)}.`);

export async function listGroups(
  account: Account,
  prefix: string,
): Promise<Answer<typeof answers.urlGroups>> {
  const groups = await listUrlGroups(account.id);
  return groups.map((group) => record(group, prefix));
}

/** @throws HttpError 404 */
export async function getGroup(
  account: Account,
  name: string,
  prefix: string,
): Promise<Answer<typeof answers.urlGroup>> {
  const group = await loadUrlGroup(account.id, name);
  if (group === undefined) throw noSuchGroup(name);
  return record(group, prefix);
}

/**
 * Changes a group as it stands, whoever else changes it meanwhile.
 *
 * @param change what becomes of it, from what it is; null ends it
 */
const changeGroup = (
  account: Account,
  name: string,
  change: (group: UrlGroup | undefined) => UrlGroup | null | Promise<UrlGroup | null>,
): Promise<UrlGroup | null> =>
  changing(`The URL group ${quote(name)}`, async () => {
    const before = await loadUrlGroup(account.id, name);
    const after = await change(before);
    const isDone =
      after === null
        ? before === undefined || (await deleteUrlGroup(before))
        : await saveUrlGroup({ ...after, version: (before?.version ?? 0) + 1 }, before?.version);
    return isDone ? after : undefined;
  });

/** @throws HttpError 404 */
export async function deleteGroup(account: Account, name: string): Promise<void> {
  await changeGroup(account, name, (group) => {
    if (group === undefined) throw noSuchGroup(name);
    return null;
  });
}

/** A group is one row of at most 400 KB: a hundred endpoints have room in it. */
const longestEndpointUrl = 2_048;

function readEndpoints(request: GroupRequest): readonly Endpoint[] {
  const allowed = '{"endpoints": [{"url", "name"?}]} with at least one endpoint';
  const { endpoints } = parseShape('The body', request.body, addedEndpoints, allowed);
  const rules = destinationRules(request.host);
  return endpoints.map(({ url, name }, index) => {
    const field = `endpoints.${index}.url`;
    const parsed = parseUrl(field, url);
    if (parsed.length > longestEndpointUrl) {
      throw badRequest(`${field} has ${parsed.length} characters; allowed are ${longestEndpointUrl}.`);
    }
    refuseUnsafe(field, parsed, rules);
    const isTwice = endpoints.some(
      (other, place) => place < index && (name === undefined ? other.url === url : other.name === name),
    );
    if (isTwice)
      throw badRequest(`endpoints.${index} is there twice, by its ${name === undefined ? 'url' : 'name'}.`);
    return { url: parsed, name: name === undefined ? undefined : parseName(`endpoints.${index}.name`, name) };
  });
}

async function checkRoom(account: Account, name: string): Promise<void> {
  const { max_topics: most } = limitsOf(account);
  const groups = await listUrlGroups(account.id);
  if (groups.length >= most && !groups.some((group) => group.name === name)) {
    throw overLimit(
      `The URL group ${quote(name)} would be number ${groups.length + 1}, but the account's limit max_topics is ${most}.`,
    );
  }
}

/**
 * Adds endpoints to a group, which it makes when there is none. One that is there already is updated.
 *
 * @throws HttpError 400, 403 or 412; nothing is changed then
 */
export async function addEndpoints(account: Account, request: GroupRequest): Promise<void> {
  const name = parseName('The name of the URL group', request.name);
  const endpoints = readEndpoints(request);
  const { max_endpoints_per_topic: most } = limitsOf(account);
  await changeGroup(account, name, async (group) => {
    if (group === undefined) await checkRoom(account, name);
    const all = withEndpoints(group?.endpoints ?? [], endpoints);
    if (all.length > most) {
      throw overLimit(
        `The URL group ${quote(name)} would have ${all.length} endpoints, but the account's limit max_endpoints_per_topic is ${most}.`,
      );
    }
    const time = now();
    const empty = { accountId: account.id, name, defaults: new Map(), createdAt: time, version: 0 };
    return { ...(group ?? empty), endpoints: all, updatedAt: time };
  });
}

/**
 * Removes endpoints, each named by its URL, its name, or both. With the last one the group ends.
 *
 * @throws HttpError 400 or 404; nothing is changed then
 */
export async function removeEndpoints(account: Account, request: GroupRequest): Promise<void> {
  const { name } = request;
  const allowed = '{"endpoints": [{"url"?, "name"?}]} with at least one endpoint';
  const { endpoints: keys } = parseShape('The body', request.body, removedEndpoints, allowed);
  const unnamed = keys.findIndex((key) => key.url === undefined && key.name === undefined);
  if (unnamed !== -1)
    throw badRequest(`endpoints.${unnamed} has neither url nor name; allowed is ${allowed}.`);
  await changeGroup(account, name, (group) => {
    if (group === undefined) throw noSuchGroup(name);
    const { left, unknown } = withoutEndpoints(group.endpoints, keys);
    const [first] = unknown;
    if (first !== undefined) {
      throw notFound(`The URL group ${quote(name)} has no endpoint ${quote(first.name ?? first.url ?? '')}.`);
    }
    return left.length === 0 ? null : { ...group, endpoints: left, updatedAt: now() };
  });
}

function readDefaults(account: Account, request: GroupRequest): Config {
  const allowed = '{"headers": {"<name>": "<value>" or ["<value>", …]}}';
  const { headers } = parseShape('The body', request.body, groupDefaults, allowed);
  const { config, otherHeaders } = canonicalize(readHeaders('headers', headers), [], settings.headerPrefixes);
  const [foreign] = otherHeaders;
  if (foreign !== undefined) {
    throw badRequest(
      `headers.${foreign[0]} is not a header of the service; allowed are those, such as Svc-Retries and Svc-Forward-*.`,
    );
  }
  parsePublishOptions(
    { prefix: request.prefix, config, otherHeaders: [] },
    account,
    destinationRules(request.host),
    now(),
  );
  return config;
}

/**
 * Sets the configuration that every message to the group has unless its request says otherwise; it replaces what was set
 * before.
 *
 * @throws HttpError 400, 403, 404 or 412; nothing is changed then
 */
export async function setDefaults(
  account: Account,
  request: GroupRequest,
): Promise<Answer<typeof answers.urlGroup>> {
  const { name, prefix } = request;
  const config = readDefaults(account, request);
  const group = await changeGroup(account, name, (before) => {
    if (before === undefined) throw noSuchGroup(name);
    return { ...before, defaults: config, updatedAt: now() };
  });
  if (group === null) throw noSuchGroup(name);
  return record(group, prefix);
}
