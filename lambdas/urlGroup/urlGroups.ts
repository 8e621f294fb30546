import type { Config } from '../shared/config.ts';
import { limitsOf, type Account } from '../account/account.ts';
import type * as answers from '../wire/answers.ts';
import type { Answer } from '../wire/answers.ts';
import { now } from '../shared/clock.ts';
import { badDestination, parseUrl, refuseSsrf } from '../destination/destination.ts';
import { canonicalize } from '../request/dialect.ts';
import { readHeaders, headerName } from '../shared/headers.ts';
import { badField, badRequest, type HttpError, notFound, overLimit, quote } from '../error/httpError.ts';
import { parseShape } from '../shared/json.ts';
import { parseName } from '../value/names.ts';
import { configWithKnownCredentials, parsePublishOptions } from '../request/publishOptions.ts';
import { addedEndpoints, groupDefaults, removedEndpoints } from '../wire/requests.ts';
import { quoteUrl, shownConfig, shownUrl } from '../shared/urlCredentials.ts';
import { isSameUrl, withEndpoints, withoutEndpoints, type Endpoint, type UrlGroup } from './urlGroup.ts';
import { settings } from '../aws/settings.ts';
import { deleteUrlGroup, listUrlGroups, loadUrlGroup, saveUrlGroup, urlGroupsBehind } from './rows.ts';
import { retryOnConflict } from '../aws/retryOnConflict.ts';
import { destinationRules } from '../destination/rulesOfDeployment.ts';
import { showByName, type ShownPage } from '../list/pages.ts';

/** A request to change a group. */
export interface GroupRequest {
  readonly name: string;
  readonly body: Uint8Array;
  /** The prefix with which the answer shows headers of the service. */
  readonly prefix: string;
  readonly host: string;
}

function urlGroupRecord(group: UrlGroup, prefix: string): Answer<typeof answers.urlGroup> {
  const headers = [...shownConfig(group.defaults)].map(
    ([name, values]) => [headerName(prefix, name), values] as const,
  );
  return {
    name: group.name,
    createdAt: group.createdAt,
    updatedAt: group.updatedAt,
    endpoints: group.endpoints.map(({ url, name }) => ({ url: shownUrl(url), name })),
    headers: Object.fromEntries(headers),
  };
}

const noSuchGroup = (name: string): HttpError =>
  notFound('url_group_not_found', `There is no URL group ${quote(name)}.`);

/** @throws HttpError 400 for a cursor that this list did not hand out */
export const listGroups = (
  account: Account,
  prefix: string,
  cursor: string | undefined,
): Promise<ShownPage<Answer<typeof answers.urlGroup>>> =>
  showByName(
    `${account.id}/topics`,
    cursor,
    (behind) => urlGroupsBehind(account.id, behind),
    ({ name }) => name,
    (group) => urlGroupRecord(group, prefix),
  );

/** @throws HttpError 404 */
export async function getGroup(
  account: Account,
  name: string,
  prefix: string,
): Promise<Answer<typeof answers.urlGroup>> {
  const group = await loadUrlGroup(account.id, name);
  if (group === undefined) throw noSuchGroup(name);
  return urlGroupRecord(group, prefix);
}

/**
 * Changes a group, on the condition that nobody else changed it between the read and the write.
 *
 * @param change makes the group as it shall be, from the group as it is; null deletes it
 * @throws HttpError 503 when others were always faster
 */
const changeGroup = (
  account: Account,
  name: string,
  change: (group: UrlGroup | undefined) => UrlGroup | null | Promise<UrlGroup | null>,
): Promise<UrlGroup | null> =>
  retryOnConflict(
    `The URL group ${quote(name)} is being changed by many at once; send the change again.`,
    async () => {
      const before = await loadUrlGroup(account.id, name);
      const after = await change(before);
      const isDone =
        after === null
          ? before === undefined || (await deleteUrlGroup(before))
          : await saveUrlGroup({ ...after, version: (before?.version ?? 0) + 1 }, before?.version);
      return isDone ? after : undefined;
    },
  );

/** Deletes a group. Deleting one that is not there does nothing. */
export async function deleteGroup(account: Account, name: string): Promise<void> {
  await changeGroup(account, name, () => null);
}

/** Characters of a URL. A group is one row of at most 400 KB, in which a hundred endpoints of this length have room. */
const longestEndpointUrl = 2_048;

async function readEndpoints(request: GroupRequest): Promise<readonly Endpoint[]> {
  const allowed = '{"endpoints": [{"url", "name"?}]} with at least one endpoint';
  const { endpoints } = parseShape('The body', request.body, addedEndpoints, allowed);
  const rules = await destinationRules(request.host);
  return endpoints.map(({ url, name }, index) => {
    const field = `endpoints.${index}.url`;
    const parsed = parseUrl(field, url);
    if (parsed.length > longestEndpointUrl) {
      throw badDestination(`${field} has ${parsed.length} characters; allowed are ${longestEndpointUrl}.`);
    }
    refuseSsrf(field, parsed, rules);
    const isTwice = endpoints.some(
      (other, place) =>
        place < index && (name === undefined ? isSameUrl(other.url, url) : other.name === name),
    );
    if (isTwice)
      throw badField(`endpoints.${index} is there twice, by its ${name === undefined ? 'url' : 'name'}.`);
    return { url: parsed, name: name === undefined ? undefined : parseName(`endpoints.${index}.name`, name) };
  });
}

async function checkRoom(account: Account, name: string): Promise<void> {
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
 * Adds endpoints to a group. A group that is missing is created; an endpoint that is there already is updated.
 *
 * @throws HttpError 400, 403 or 412; nothing is changed then
 */
export async function addEndpoints(account: Account, request: GroupRequest): Promise<void> {
  const { name } = request;
  const endpoints = await readEndpoints(request);
  const { max_endpoints_per_topic: most } = limitsOf(account);
  await changeGroup(account, name, async (group) => {
    if (group === undefined) await checkRoom(account, name);
    const all = withEndpoints(group?.endpoints ?? [], endpoints);
    if (all.length > most) {
      throw overLimit(
        'endpoint_limit_reached',
        `The URL group ${quote(name)} would have ${all.length} endpoints, but the account's limit max_endpoints_per_topic is ${most}.`,
      );
    }
    const time = now();
    const empty = { accountId: account.id, name, defaults: new Map(), createdAt: time, version: 0 };
    return { ...(group ?? empty), endpoints: all, updatedAt: time };
  });
}

/**
 * Removes endpoints, each named by its URL, its name, or both. A group whose last endpoint is removed is deleted.
 *
 * @throws HttpError 400 or 404; nothing is changed then
 */
export async function removeEndpoints(account: Account, request: GroupRequest): Promise<void> {
  const { name } = request;
  const allowed = '{"endpoints": [{"url"?, "name"?}]} with at least one endpoint';
  const { endpoints: keys } = parseShape('The body', request.body, removedEndpoints, allowed);
  const unnamed = keys.findIndex((key) => key.url === undefined && key.name === undefined);
  if (unnamed !== -1) throw badField(`endpoints.${unnamed} has neither url nor name; allowed is ${allowed}.`);
  await changeGroup(account, name, (group) => {
    if (group === undefined) throw noSuchGroup(name);
    const { left, unknown } = withoutEndpoints(group.endpoints, keys);
    const [first] = unknown;
    if (first !== undefined) {
      throw notFound(
        'endpoint_not_found',
        `The URL group ${quote(name)} has no endpoint ${first.name === undefined ? quoteUrl(first.url ?? '') : quote(first.name)}.`,
      );
    }
    return left.length === 0 ? null : { ...group, endpoints: left, updatedAt: now() };
  });
}

async function readDefaults(account: Account, request: GroupRequest): Promise<Config> {
  const allowed = '{"headers": {"<name>": "<value>" or ["<value>", …]}}';
  const { headers } = parseShape('The body', request.body, groupDefaults, allowed);
  const { config, otherHeaders } = canonicalize(readHeaders('headers', headers), [], settings.headerPrefixes);
  const [foreign] = otherHeaders;
  if (foreign !== undefined) {
    throw badRequest(
      'field_unknown',
      `headers.${foreign[0]} is not a header of the service; allowed are those, such as Svc-Retries and Svc-Forward-*.`,
    );
  }
  parsePublishOptions(
    { prefix: request.prefix, config, otherHeaders: [] },
    account,
    await destinationRules(request.host),
    now(),
  );
  return config;
}

/**
 * Sets the default headers of a group: the configuration of every message to it, unless the message's request says
 * otherwise. They replace the defaults that were set before.
 *
 * @throws HttpError 400, 403, 404 or 412; nothing is changed then
 */
export async function setDefaults(
  account: Account,
  request: GroupRequest,
): Promise<Answer<typeof answers.urlGroup>> {
  const { name, prefix } = request;
  const config = await readDefaults(account, request);
  const group = await changeGroup(account, name, (before) => {
    if (before === undefined) throw noSuchGroup(name);
    const defaults = configWithKnownCredentials(config, before.defaults);
    return { ...before, defaults, updatedAt: now() };
  });
  if (group === null) throw noSuchGroup(name);
  return urlGroupRecord(group, prefix);
}
