/** The rows of alarms, one for each account. They share a partition, so a check finds them with one query. */
import { tables } from '../../aws/resources.ts';
import { settings } from '../../aws/settings.ts';
import { getRow, rowsOf, type Row } from '../../aws/dynamodb.ts';
import { alarms, type Alarms } from '../alarm.ts';
import { put, remove, unlessRefused, ifNew } from '../../aws/writes.ts';

/** Account ids contain no `#`. */
const owner = 'alarms#all';

const keyOf = (accountId: string) => ({ owner, id: accountId });

const alarmsOf = ({ id, ...rest }: Row): Alarms => alarms.parse({ ...rest, accountId: id });

export async function loadAlarms(accountId: string): Promise<Alarms | undefined> {
  const row = await getRow(settings.usageTable, keyOf(accountId), true);
  return row && alarmsOf(row);
}

export async function* allAlarms(): AsyncGenerator<Alarms> {
  for await (const row of rowsOf({ name: settings.usageTable, ...tables.usage }, owner)) yield alarmsOf(row);
}

/**
 * Replaces the alarms that were read.
 *
 * @param read undefined if there were none
 * @returns false, without a change, if they were changed or deleted since
 */
export function saveAlarms({ accountId, ...rest }: Alarms, read: Alarms | undefined): Promise<boolean> {
  return unlessRefused(
    put(
      settings.usageTable,
      { ...rest, ...keyOf(accountId) },
      read === undefined
        ? ifNew
        : {
            // The seed also differs: alarms that were deleted and set again have the same versions.
            onlyIf: 'version = :version AND seed = :seed',
            values: { version: read.version, seed: read.seed },
          },
    ),
  );
}

/** @returns the deleted alarms, if any */
export async function deleteAlarms(accountId: string): Promise<Alarms | undefined> {
  const { row = {} } = await remove(settings.usageTable, keyOf(accountId), { returns: 'ALL_OLD' });
  return Object.keys(row).length === 0 ? undefined : alarmsOf(row);
}
