/** Reading and writing of rows in the tables by `accountId` and `name`. */
import { PutItemCommand } from '@aws-sdk/client-dynamodb';
import { namePattern } from '../../value/names.ts';
import {
  dynamodb,
  getRow,
  ifVersionIs,
  rowsOf,
  toItem,
  unlessRefused,
  type Row,
} from '../../aws/dynamodb.ts';

export interface NamedTable {
  readonly name: string;
  readonly partitionKey: string;
  readonly sortKey: string;
}

/** Reads the row of a name; undefined when there is none. */
export async function loadNamed(
  table: NamedTable,
  accountId: string,
  name: string,
): Promise<Row | undefined> {
  // DynamoDB refuses keys that are empty or too long, so only what can be a name is asked for.
  if (!namePattern.test(name)) return undefined;
  return getRow(table.name, { accountId, name }, true);
}

/** Reads the rows of an account in the order of their names: those behind a name, or all. */
export async function* namedBehind<T>(
  table: NamedTable,
  read: (row: Row) => T,
  accountId: string,
  behind: string | undefined,
): AsyncGenerator<T> {
  for await (const row of rowsOf(table, accountId, behind)) yield read(row);
}

/** Reads all rows of an account, in the order of their names. */
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
 * Writes a row in the place of the one that was read.
 *
 * @param readVersion its version; undefined when there was none
 * @returns false when another request changed it meanwhile; nothing is written then
 */
export const saveNamed = (
  table: NamedTable,
  row: object,
  readVersion: number | undefined,
): Promise<boolean> =>
  unlessRefused(
    dynamodb.send(
      new PutItemCommand({ TableName: table.name, Item: toItem(row), ...ifVersionIs(readVersion) }),
    ),
  );
