/** Index entries of rows: their keys and attributes. */
import { refused, type AwsError } from '../aws/awsError.ts';
import { indexKey } from './keys.ts';
import { checkKeySize, type Index, type Table } from './table.ts';
import { invalid, typeOf, type Item, type Value } from './values.ts';

/** How a row gets its values: as a whole item, or by an update. The error messages differ. */
export type Source = 'item' | 'update';

/**
 * Checks those attributes of a row that are keys of indexes. A row that lacks one is not in the index.
 *
 * @throws AwsError
 */
export function checkIndexKeys({ indexes }: Table, row: Item, source: Source): void {
  for (const index of indexes) {
    const { partitionKey, sortKey, sortType } = index;
    const [partition, sort] = [row[partitionKey], row[sortKey]];
    if (partition !== undefined) checkIndexKey(index, partitionKey, 'S', partition, source);
    if (sort !== undefined) checkIndexKey(index, sortKey, sortType, sort, source);
  }
}

function checkIndexKey(
  index: Index,
  attribute: string,
  type: Index['sortType'],
  value: Value,
  source: Source,
): void {
  if (!(type in value)) throw mismatch(index, attribute, type, value);
  if (!('S' in value)) return;
  if (value.S === '') throw source === 'item' ? emptyKey(index, attribute) : emptied();
  checkKeySize(value.S, attribute === index.partitionKey ? 'partition' : 'sort');
}

const mismatch = ({ name }: Index, attribute: string, expected: string, value: Value): AwsError =>
  invalid(
    `Type mismatch for Index Key ${attribute} Expected: ${expected} Actual: ${typeOf(value)} IndexName: ${name}`,
  );
const emptyKey = ({ name }: Index, attribute: string): AwsError =>
  refused(
    `One or more parameter values are not valid. A value specified for a secondary index key is not supported. The AttributeValue for a key attribute cannot contain an empty string value. IndexName: ${name}, IndexKey: ${attribute}`,
  );
const emptied = (): AwsError =>
  refused(
    'One or more parameter values are not valid. The update expression attempted to update a secondary index key to a value that is not supported. The AttributeValue for a key attribute cannot contain an empty string value.',
  );

/**
 * The key of a row's entry in an index; undefined if the row is not in the index.
 *
 * @param row the row's key without its table's prefix
 */
export function entryKey(index: Index, item: Item, row: Buffer): Buffer | undefined {
  const partition = item[index.partitionKey];
  const sort = item[index.sortKey];
  if (partition === undefined || sort === undefined || !('S' in partition)) return undefined;
  return indexKey(index.prefix, partition.S, sort, row);
}

export function projected({ attributes }: Index, row: Item): Item {
  if (attributes === undefined) return row;
  return Object.fromEntries(Object.entries(row).filter(([name]) => attributes.has(name)));
}
