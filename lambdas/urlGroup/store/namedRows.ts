import { namePattern } from '../../value/names.ts';
import { getRow, rowsOf, type Row } from '../../aws/dynamodb.ts';
import { put, unlessRefused, ifVersionIs } from '../../aws/writes.ts';

interface NamedTable {
  readonly name: string;
  readonly partitionKey: string;
  readonly sortKey: string;
}

export async function loadNamed(
  table: NamedTable,
  accountId: string,
  name: string,
): Promise<Row | undefined> {
  // Other names are not read, because DynamoDB refuses empty and long keys.
  if (!namePattern.test(name)) return undefined;
  return getRow(table.name, { accountId, name }, true);
}

/** An account's rows by name, after `behind` if given. */
export async function* namedBehind<T>(
  table: NamedTable,
  read: (row: Row) => T,
  accountId: string,
  behind: string | undefined,
): AsyncGenerator<T> {
  for await (const row of rowsOf(table, accountId, behind)) yield read(row);
}

export async function listNamed<T>(
  table: NamedTable,
  read: (row: Row) => T,
  accountId: string,
): Promise<readonly T[]> {
  const all: T[] = [];
  for await (const row of rowsOf(table, accountId)) all.push(read(row));
  return all;
}

/**
 * Replaces the row that was read.
 *
 * @param readVersion undefined if there was none
 * @returns false, without a change, if another request changed it
 */
export const saveNamed = (
  table: NamedTable,
  row: object,
  readVersion: number | undefined,
): Promise<boolean> => unlessRefused(put(table.name, row, ifVersionIs(readVersion)));
