import { tables, type TableShape } from '../../lambdas/aws/resources.ts';
import { AwsError, refused } from '../aws/awsError.ts';
import type { KeyShape } from './expressions/bind.ts';
import { prefixOf, rowKey } from './keys.ts';
import { checkedItem, invalid, typeOf, type Item } from './values.ts';

export interface Index {
  readonly name: string;
  readonly prefix: Buffer;
  readonly partitionKey: string;
  readonly sortKey: string;
  readonly partitionType: 'S';
  readonly sortType: 'S' | 'N';
  /** The attributes of index entries; undefined for all. */
  readonly attributes: ReadonlySet<string> | undefined;
}

export interface Table {
  readonly name: string;
  readonly prefix: Buffer;
  readonly keys: KeyShape;
  readonly keyNames: readonly string[];
  readonly indexes: readonly Index[];
  readonly ttl: string | undefined;
}

const made = new Map(Object.entries<TableShape>(tables).map(([name, shape]) => [name, tableOf(name, shape)]));

export const allTables: readonly Table[] = [...made.values()];

/** @throws AwsError if the table does not exist */
export function tableNamed(name: string): Table {
  const table = made.get(name);
  if (table !== undefined) return table;
  throw new AwsError('ResourceNotFoundException', 'Requested resource not found');
}

function tableOf(name: string, { partitionKey, sortKey, indexes, ttl }: TableShape): Table {
  const keyNames = sortKey === undefined ? [partitionKey] : [partitionKey, sortKey];
  return {
    name,
    prefix: prefixOf(name),
    keys: { partitionKey, sortKey, partitionType: 'S', sortType: 'S' },
    keyNames,
    indexes: indexes.map((index) => ({
      name: index.name,
      prefix: prefixOf(name, index.name),
      partitionKey: index.partitionKey,
      sortKey: index.sortKey,
      partitionType: 'S',
      sortType: index.sortsBy === 'number' ? 'N' : 'S',
      attributes:
        index.includes && new Set([...keyNames, index.partitionKey, index.sortKey, ...index.includes]),
    })),
    ttl,
  };
}

/** The limits in bytes, from "Partition keys and sort keys" in DynamoDB's quotas. */
const longestPartitionKey = 2_048;
const longestSortKey = 1_024;

/**
 * The key of a row in the store.
 *
 * @throws AwsError if the row's key is missing or invalid
 */
export function keyOf(table: Table, row: Item): Buffer {
  const { keyNames } = table;
  for (const name of keyNames)
    if (!Object.hasOwn(row, name)) throw invalid(`Missing the key ${name} in the item`);
  for (const name of keyNames) {
    const value = row[name];
    if (value !== undefined && !('S' in value)) {
      throw invalid(`Type mismatch for key ${name} expected: S actual: ${typeOf(value)}`);
    }
  }
  return storeKey(table, row);
}

/**
 * Checks a key from a client.
 *
 * @returns the key, and the row's key in the store
 * @throws AwsError
 */
export function checkedKey(table: Table, input: unknown): { readonly key: Item; readonly storeKey: Buffer } {
  const key = checkedItem(input);
  if (!hasMembers(key, table.keyNames) || !Object.values(key).every((value) => 'S' in value)) {
    throw mismatched();
  }
  return { key, storeKey: storeKey(table, key) };
}

/** Checks the types of a row's key attributes. Some may be missing. @throws AwsError as for a client's key */
export function checkKeyTypes({ keyNames }: Table, row: Item): void {
  for (const name of keyNames) {
    const value = row[name];
    if (value !== undefined && !('S' in value)) throw mismatched();
  }
}

const mismatched = (): AwsError => refused('The provided key element does not match the schema');

export const hasMembers = (item: Item, names: readonly string[]): boolean =>
  Object.keys(item).length === names.length && names.every((name) => Object.hasOwn(item, name));

function storeKey({ prefix, keys: { partitionKey, sortKey } }: Table, row: Item): Buffer {
  const partition = keyText(row, partitionKey);
  checkKeySize(partition, 'partition');
  if (sortKey === undefined) return rowKey(prefix, partition, '');
  const sort = keyText(row, sortKey);
  checkKeySize(sort, 'sort');
  return rowKey(prefix, partition, sort);
}

function keyText(row: Item, name: string): string {
  const value = row[name];
  if (value !== undefined && 'S' in value && value.S !== '') return value.S;
  throw refused(
    `One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an empty string value. Key: ${name}`,
  );
}

export function checkKeySize(text: string, part: 'partition' | 'sort'): void {
  const size = Buffer.byteLength(text);
  if (part === 'partition' && size > longestPartitionKey) {
    throw invalid(`Size of hashkey has exceeded the maximum size limit of${longestPartitionKey} bytes`);
  }
  if (part === 'sort' && size > longestSortKey) {
    throw invalid(`Aggregated size of all range keys has exceeded the size limit of ${longestSortKey} bytes`);
  }
}

export const keyAttributes = (names: readonly string[], row: Item): Item =>
  Object.fromEntries(names.flatMap((name) => (row[name] === undefined ? [] : [[name, row[name]]])));
