import type { Account } from '../account/account.ts';
import type { MasterSecret } from '../account/credentials.ts';
import { masterSecret } from '../account/secrets.ts';
import { changesBetween, hideForwarded, type Changes, type Values } from '../audit/changes.ts';
import type { ShownGroup } from '../wire/urlGroupAnswers.ts';
import { now } from '../shared/clock.ts';
import { shownConfig } from '../shared/headers.ts';
import { type HttpError, notFound, quote } from '../error/httpError.ts';
import { describeSignature, shownSignature } from './signatures.ts';
import { shownUrl } from '../shared/urlCredentials.ts';
import type { ChangedGroup, UrlGroup } from './urlGroup.ts';
import { deleteUrlGroup, loadUrlGroup, saveUrlGroup, urlGroupsBehind } from './rows.ts';
import { retryOnConflict } from '../aws/retryOnConflict.ts';
import { showByName, type ShownPage } from '../list/pages.ts';

export interface GroupRequest {
  readonly name: string;
  readonly body: Uint8Array;
  /** The prefix of the service's headers in the answer. */
  readonly prefix: string;
  readonly host: string;
}

export function urlGroupRecord(group: UrlGroup, prefix: string, secret: MasterSecret): ShownGroup {
  return {
    name: group.name,
    createdAt: group.createdAt,
    updatedAt: group.updatedAt,
    endpoints: group.endpoints.map(({ url, name, signature }) => ({
      url: shownUrl(url),
      name,
      signature: signature && shownSignature(signature, secret, now()),
    })),
    headers: shownConfig(prefix, group.defaults),
  };
}

export const noSuchGroup = (name: string): HttpError =>
  notFound('url_group_not_found', `There is no URL group ${quote(name)}.`);

export async function listGroups(
  account: Account,
  prefix: string,
  cursor: string | undefined,
): Promise<ShownPage<ShownGroup>> {
  const secret = await masterSecret();
  return showByName(
    `${account.id}/topics`,
    cursor,
    (behind) => urlGroupsBehind(account.id, behind),
    ({ name }) => name,
    (group) => urlGroupRecord(group, prefix, secret),
  );
}

export async function getGroup(account: Account, name: string, prefix: string): Promise<ShownGroup> {
  const group = await loadUrlGroup(account.id, name);
  if (group === undefined) throw noSuchGroup(name);
  return urlGroupRecord(group, prefix, await masterSecret());
}

const valuesOf = ({ endpoints, defaults }: UrlGroup, prefix: string): Values => ({
  endpoints: Object.fromEntries(endpoints.map(({ name, url }) => [name ?? shownUrl(url), shownUrl(url)])),
  signatures: Object.fromEntries(
    endpoints.map(({ name, url, signature }) => [
      name ?? shownUrl(url),
      signature && describeSignature(signature),
    ]),
  ),
  headers: shownConfig(prefix, defaults),
});

export const groupChanges = ({ before, after }: ChangedGroup, prefix: string): Changes =>
  changesBetween(before && valuesOf(before, prefix), after && valuesOf(after, prefix), hideForwarded);

/**
 * Changes a group if no other request has changed it since it was read.
 *
 * @param change returns the new group; null to delete it
 * @throws HttpError 503 after too many conflicts
 */
export const changeGroup = (
  account: Account,
  name: string,
  change: (group: UrlGroup | undefined) => UrlGroup | null | Promise<UrlGroup | null>,
): Promise<ChangedGroup> =>
  retryOnConflict(
    `The URL group ${quote(name)} is being changed by many at once; send the change again.`,
    async () => {
      const before = await loadUrlGroup(account.id, name);
      const after = await change(before);
      const isDone =
        after === null
          ? before === undefined || (await deleteUrlGroup(before))
          : await saveUrlGroup({ ...after, version: (before?.version ?? 0) + 1 }, before?.version);
      return isDone ? { before, after: after ?? undefined } : undefined;
    },
  );

/** Deletes a group, if it exists. */
export const deleteGroup = async (account: Account, name: string, prefix: string): Promise<Changes> =>
  groupChanges(await changeGroup(account, name, () => null), prefix);
