import { urlGroup, type UrlGroup } from './urlGroup.ts';
import { tables } from '../aws/resources.ts';
import { settings } from '../aws/settings.ts';
import { type Row } from '../aws/dynamodb.ts';
import { listNamed, loadNamed, namedBehind, saveNamed } from './store/namedRows.ts';
import { remove, unlessRefused, ifVersionIs } from '../aws/writes.ts';

const table = { name: settings.groupsTable, ...tables.groups };

const groupOf = (row: Row): UrlGroup => urlGroup.parse(row);

export async function loadUrlGroup(accountId: string, name: string): Promise<UrlGroup | undefined> {
  const row = await loadNamed(table, accountId, name);
  return row && groupOf(row);
}

/** An account's URL groups by name, after `behind` if given. */
export const urlGroupsBehind = (accountId: string, behind: string | undefined): AsyncGenerator<UrlGroup> =>
  namedBehind(table, groupOf, accountId, behind);

export const listUrlGroups = (accountId: string): Promise<readonly UrlGroup[]> =>
  listNamed(table, groupOf, accountId);

/**
 * Replaces the URL group that was read.
 *
 * @param readVersion undefined if there was none
 * @returns false, without a change, if another request changed it
 */
export const saveUrlGroup = (group: UrlGroup, readVersion: number | undefined): Promise<boolean> =>
  saveNamed(table, { ...group, defaults: [...group.defaults] }, readVersion);

/** @returns false if another request changed it */
export const deleteUrlGroup = (group: UrlGroup): Promise<boolean> =>
  unlessRefused(
    remove(
      settings.groupsTable,
      { accountId: group.accountId, name: group.name },
      ifVersionIs(group.version),
    ),
  );
