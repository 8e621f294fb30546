/** Reads rows: one, several by key, a partition, or all. */
import { setImmediate } from 'node:timers/promises';
import type * as z from 'zod/mini';
import { refused } from '../aws/awsError.ts';
import { addUnits, consumed, consumedOfEach, readUnits, type Units } from './capacity.ts';
import { behindCursor, cursorNames, type Range, type Source } from './cursor.ts';
import { bind, type Bound, type KeyRange } from './expressions/bind.ts';
import { projected } from './indexes.ts';
import type { batchGetInput, getInput, Page, queryInput } from './inputs.ts';
import { behindAll, indexSort, indexText, next, partitionKey } from './keys.ts';
import type { Rows } from './rows.ts';
import { sizeOfItem } from './sizes.ts';
import { checkedKey, keyAttributes, tableNamed } from './table.ts';
import { invalid, type Item, type Value } from './values.ts';

/** Bytes of rows per page, from "Paginating table query results". */
const pageBytes = 1_048_576;
/** Bytes of the answer to a `BatchGetItem`: 16 MB. */
const batchBytes = 16 * 1_048_576;
const mostGets = 100;
/**
 * After this many rows, other requests get a turn. Otherwise the pages of a long list would follow without a
 * pause.
 */
const longPage = 50;

export function getItem(rows: Rows, input: z.infer<typeof getInput>): object {
  const { TableName, Key, ConsistentRead, ...given } = input;
  const table = tableNamed(TableName);
  const { projection } = bind(given, table.keys, table.keyNames);
  const row = rows.read(checkedKey(table, Key).storeKey);
  return {
    ...(row !== undefined && { Item: projection?.(row) ?? row }),
    ...consumed(input, TableName, () => ({
      table: readUnits(row === undefined ? 0 : sizeOfItem(row), ConsistentRead),
      indexes: {},
    })),
  };
}

export function batchGetItem(rows: Rows, input: z.infer<typeof batchGetInput>): object {
  const wanted = Object.entries(input.RequestItems).flatMap(([name, { Keys, ConsistentRead, ...given }]) => {
    const table = tableNamed(name);
    const { projection } = bind(given, table.keys, table.keyNames);
    const keys = Keys.map((Key) => ({ Key, key: checkedKey(table, Key).storeKey }));
    if (new Set(keys.map(({ key }) => key.toString('latin1'))).size < keys.length) {
      throw refused('Provided list of item keys contains duplicates');
    }
    return keys.map((one) => ({ ...one, name, projection, isConsistent: ConsistentRead }));
  });
  if (wanted.length > mostGets) throw refused('Too many items requested for the BatchGetItem call');
  const Responses: Record<string, Item[]> = Object.fromEntries(wanted.map(({ name }) => [name, []]));
  const left: typeof wanted = [];
  const units = new Map<string, Units>();
  let bytes = 0;
  for (const one of wanted) {
    const row = rows.read(one.key);
    const size = row === undefined ? 0 : sizeOfItem(row);
    if (left.length > 0 || bytes + size > batchBytes) {
      left.push(one);
      continue;
    }
    bytes += size;
    addUnits(units, one.name, { table: readUnits(size, one.isConsistent), indexes: {} });
    if (row !== undefined) Responses[one.name]?.push(one.projection?.(row) ?? row);
  }
  const UnprocessedKeys: Record<string, object> = {};
  for (const { name } of left) {
    const Keys = left.filter((one) => one.name === name).map(({ Key }) => Key);
    UnprocessedKeys[name] = { ...input.RequestItems[name], Keys };
  }
  return {
    Responses,
    UnprocessedKeys,
    ...consumedOfEach(input, units),
  };
}

/** Checks that `Select` matches the projection. @throws AwsError */
function checkSelect({ Select, ProjectionExpression, IndexName }: Page): void {
  if (Select === 'ALL_PROJECTED_ATTRIBUTES' && IndexName === undefined) {
    throw refused('ALL_PROJECTED_ATTRIBUTES can be used only when Querying using an IndexName');
  }
  if (ProjectionExpression === undefined) {
    if (Select !== 'SPECIFIC_ATTRIBUTES') return;
    throw refused(
      'Must specify the AttributesToGet or ProjectionExpression when choosing to get SPECIFIC_ATTRIBUTES',
    );
  }
  if (Select === undefined || Select === 'SPECIFIC_ATTRIBUTES') return;
  throw refused(
    `Cannot specify the ProjectionExpression when choosing to get ${Select === 'COUNT' ? 'only the Count' : Select}`,
  );
}

function sourceOf(input: Page): Source {
  const { TableName, IndexName, ConsistentRead } = input;
  checkSelect(input);
  const table = tableNamed(TableName);
  if (IndexName === undefined) return { table, index: undefined, prefix: table.prefix };
  const index = table.indexes.find(({ name }) => name === IndexName);
  if (index === undefined) {
    throw refused(`The table does not have the specified index: ${IndexName}`);
  }
  if (ConsistentRead === true) {
    throw refused('Consistent reads are not supported on global secondary indexes');
  }
  if (input.Select === 'ALL_ATTRIBUTES' && index.attributes !== undefined) {
    throw invalid(
      `Select type ALL_ATTRIBUTES is not supported for global secondary index ${IndexName} because its projection type is not ALL`,
    );
  }
  return { table, index, prefix: index.prefix };
}

export function query(rows: Rows, input: z.infer<typeof queryInput>): object | Promise<object> {
  const source = sourceOf(input);
  const bound = bind(input, source.index ?? source.table.keys, source.table.keyNames);
  if (bound.keys === undefined) throw invalid('A query has a condition on its keys');
  return page(rows, source, input, bound, rangeOf(source, bound.keys), input.ScanIndexForward === false);
}

export function scan(rows: Rows, input: Page): object | Promise<object> {
  const source = sourceOf(input);
  const bound = bind(input, source.index ?? source.table.keys, source.table.keyNames);
  return page(rows, source, input, bound, { from: source.prefix, to: behindAll(source.prefix) }, false);
}

function rangeOf({ prefix, index }: Source, { partition, sort }: KeyRange): Range {
  const beginning = partitionKey(prefix, textOf(partition));
  const all = { from: beginning, to: behindAll(beginning) };
  if (sort === undefined) return all;
  /** How all keys with this sort key begin. In a table, this is the whole key. */
  const at = (value: Value): Buffer =>
    Buffer.concat([beginning, index === undefined ? Buffer.from(textOf(value)) : indexSort(value)]);
  const behind = (value: Value): Buffer => (index === undefined ? next(at(value)) : behindAll(at(value)));
  switch (sort.op) {
    case '=':
      return { from: at(sort.value), to: behind(sort.value) };
    case '<':
      return { ...all, to: at(sort.value) };
    case '<=':
      return { ...all, to: behind(sort.value) };
    case '>':
      return { ...all, from: behind(sort.value) };
    case '>=':
      return { ...all, from: at(sort.value) };
    case 'between':
      return { from: at(sort.low), to: behind(sort.high) };
    case 'begins_with': {
      const text = textOf(sort.prefix);
      const from = Buffer.concat([beginning, index === undefined ? Buffer.from(text) : indexText(text)]);
      return { from, to: behindAll(from) };
    }
  }
}

const textOf = (value: Value): string => ('S' in value ? value.S : '');

function page(
  rows: Rows,
  source: Source,
  input: Page,
  { filter, projection, keys }: Bound,
  range: Range,
  isReverse: boolean,
): object | Promise<object> {
  const { TableName, Limit = Infinity, ExclusiveStartKey, ConsistentRead, Select } = input;
  const { from, to } =
    ExclusiveStartKey === undefined ? range : behindCursor(source, ExclusiveStartKey, range, keys, isReverse);
  const Items: Item[] = [];
  let [count, scanned, bytes] = [0, 0, 0];
  let last: Item | undefined;
  for (const row of rowsOf(rows, source, from, to, isReverse)) {
    scanned += 1;
    bytes += sizeOfItem(row);
    if (filter?.(row) !== false) {
      count += 1;
      if (Select !== 'COUNT') Items.push(projection?.(row) ?? row);
    }
    if (scanned >= Limit || bytes >= pageBytes) {
      last = row;
      break;
    }
  }
  const answer = {
    ...(Select !== 'COUNT' && { Items }),
    Count: count,
    ScannedCount: scanned,
    ...(last !== undefined && { LastEvaluatedKey: keyAttributes(cursorNames(source), last) }),
    ...consumed(input, TableName, () => unitsOf(source, readUnits(bytes, ConsistentRead))),
  };
  return scanned < longPage ? answer : setImmediate(answer);
}

const unitsOf = ({ index }: Source, units: number): Units =>
  index === undefined ? { table: units, indexes: {} } : { table: 0, indexes: { [index.name]: units } };

function* rowsOf(rows: Rows, { table, index }: Source, from: Buffer, to: Buffer, isReverse: boolean) {
  if (from.compare(to) >= 0) return;
  if (index === undefined) {
    yield* rows.range(from, to, isReverse);
    return;
  }
  for (const { value } of rows.store.range({ from, to, isReverse })) {
    const row = rows.read(Buffer.concat([table.prefix, value]));
    // The row may have left the index after its entry was read.
    if (row?.[index.partitionKey] !== undefined && row[index.sortKey] !== undefined)
      yield projected(index, row);
  }
}
