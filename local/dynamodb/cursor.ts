/** Cursors: the `ExclusiveStartKey` of a Query or a Scan is the key of the last row on the previous page. */
import { AwsError, refused } from '../aws/awsError.ts';
import type { KeyRange } from './expressions/bind.ts';
import { entryKey } from './indexes.ts';
import { next } from './keys.ts';
import { hasMembers, keyAttributes, keyOf, type Index, type Table } from './table.ts';
import { checkedItem, type Item, type Value } from './values.ts';

export interface Source {
  readonly table: Table;
  readonly index: Index | undefined;
  readonly prefix: Buffer;
}

/** A range of store keys: `from` is included, `to` is not. */
export interface Range {
  readonly from: Buffer;
  readonly to: Buffer;
}

export const cursorNames = ({ table, index }: Source): readonly string[] =>
  index === undefined ? table.keyNames : [...new Set([...table.keyNames, index.partitionKey, index.sortKey])];

/**
 * The rest of a range, after a cursor's row.
 *
 * @param keys the condition of a Query; undefined for a Scan
 * @throws AwsError if the cursor is outside the range
 */
export function behindCursor(
  source: Source,
  cursor: object,
  range: Range,
  keys: KeyRange | undefined,
  isReverse: boolean,
): Range {
  const item = checkedItem(cursor);
  checkCursor(source, item, keys !== undefined);
  const key = storeKeyOf(source, item);
  if (keys !== undefined) {
    const { partitionKey } = source.index ?? source.table.keys;
    // The sort key is compared, even if the cursor is of another partition than the Query.
    const inside = storeKeyOf(source, { ...item, [partitionKey]: keys.partition });
    if (inside.compare(range.from) < 0 || inside.compare(range.to) >= 0) {
      throw refused('The provided starting key does not match the range key predicate');
    }
    if (!inside.equals(key)) {
      throw refused('The provided starting key is outside query boundaries based on provided conditions');
    }
  }
  if (isReverse) return { from: range.from, to: key.compare(range.to) < 0 ? key : range.to };
  const behind = next(key);
  return { from: behind.compare(range.from) > 0 ? behind : range.from, to: range.to };
}

function storeKeyOf({ table, index }: Source, item: Item): Buffer {
  const row = rowKeyOf(table, item);
  return (index && entryKey(index, item, row.subarray(table.prefix.length))) ?? row;
}

function rowKeyOf(table: Table, item: Item): Buffer {
  try {
    return keyOf(table, keyAttributes(table.keyNames, item));
  } catch (error) {
    if (!(error instanceof AwsError)) throw error;
    throw refused(`The provided starting key is invalid: ${error.message}`);
  }
}

function checkCursor({ table, index, ...source }: Source, item: Item, isQuery: boolean): void {
  const wrong = 'The provided starting key is invalid';
  if (!hasMembers(item, cursorNames({ table, index, ...source }))) {
    throw refused(
      !isQuery && index === undefined
        ? `${wrong}: The provided key element does not match the schema`
        : wrong,
    );
  }
  const { partitionKey, sortKey, sortType = 'S' } = index ?? table.keys;
  const isOfTypes =
    [...table.keyNames, partitionKey].every((name) => isOf(item[name], 'S')) &&
    (sortKey === undefined || isOf(item[sortKey], sortType));
  if (!isOfTypes) throw refused(`${wrong}: The provided key element does not match the schema`);
}

const isOf = (value: Value | undefined, type: string): boolean => value !== undefined && type in value;
