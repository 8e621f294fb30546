/** Writes rows. Each write sees all earlier ones, and is answered when it is on the disk. */
import type * as z from 'zod/mini';
import { AwsError, refused } from '../aws/awsError.ts';
import { addUnits, consumed, consumedOfEach, isAsked, writeUnits, type Units } from './capacity.ts';
import { bind, type Bound } from './expressions/bind.ts';
import { checkIndexKeys } from './indexes.ts';
import type { batchWriteInput, deleteInput, putInput, updateInput } from './inputs.ts';
import type { Rows } from './rows.ts';
import { sizeOfItem } from './sizes.ts';
import { checkedKey, checkKeyTypes, keyOf, tableNamed, type Table } from './table.ts';
import { checkedItem, type Item } from './values.ts';

/** 400 KB: "Item size" in DynamoDB's quotas. */
const largestItem = 409_600;
const mostWrites = 25;

type Write = Omit<z.infer<typeof updateInput>, 'Key'>;

async function write(
  rows: Rows,
  input: Write,
  keyIn: (table: Table) => Buffer,
  after: (before: Item | undefined, bound: Bound, table: Table) => Item | undefined,
): Promise<object> {
  const table = tableNamed(input.TableName);
  const bound = bind(input, table.keys, table.keyNames);
  const { before, after: row } = await rows.change(table, keyIn(table), (found) => {
    if (bound.condition?.(found ?? {}) === false) throw refusedBy(input, found);
    return after(found, bound, table);
  });
  const Attributes = returned(input.ReturnValues, before, row, bound);
  return {
    ...(Attributes !== undefined && { Attributes }),
    ...consumed(input, table.name, () => writeUnits(table, before, row)),
  };
}

function refusedBy(input: Write, before: Item | undefined): AwsError {
  const isAsked = input.ReturnValuesOnConditionCheckFailure === 'ALL_OLD' && before !== undefined;
  const members = isAsked ? { Item: before } : {};
  return new AwsError('ConditionalCheckFailedException', 'The conditional request failed', 400, members);
}

export async function putItem(rows: Rows, input: z.infer<typeof putInput>): Promise<object> {
  const item = checkedItem(input.Item);
  return write(
    rows,
    input,
    (table) => keyOfNew(table, item),
    () => item,
  );
}

/** Makes the key of a new row. @throws AwsError if DynamoDB would refuse the row */
function keyOfNew(table: Table, item: Item): Buffer {
  checkSize(item, 'Item size has exceeded the maximum allowed size');
  const key = keyOf(table, item);
  checkIndexKeys(table, item, 'item');
  return key;
}

export async function updateItem(rows: Rows, input: z.infer<typeof updateInput>): Promise<object> {
  let key: Item = {};
  return write(
    rows,
    input,
    (table) => {
      const checked = checkedKey(table, input.Key);
      ({ key } = checked);
      return checked.storeKey;
    },
    (before, { update, onlyRemoves }, table) => {
      if (before === undefined && onlyRemoves === true) return undefined;
      const row = update?.(before ?? key, before === undefined) ?? before ?? key;
      checkSize(row, 'Item size to update has exceeded the maximum allowed size');
      checkIndexKeys(table, row, 'update');
      return row;
    },
  );
}

export async function deleteItem(rows: Rows, input: z.infer<typeof deleteInput>): Promise<object> {
  return write(
    rows,
    input,
    (table) => checkedKey(table, input.Key).storeKey,
    () => undefined,
  );
}

export async function batchWriteItem(rows: Rows, input: z.infer<typeof batchWriteInput>): Promise<object> {
  const wanted = Object.entries(input.RequestItems).flatMap(([name, requests]) => {
    const table = tableNamed(name);
    return requests.map(({ PutRequest, DeleteRequest }) => {
      const row = PutRequest && checkedItem(PutRequest.Item);
      if (row !== undefined) checkKeyTypes(table, row);
      const key = row === undefined ? checkedKey(table, DeleteRequest?.Key).storeKey : keyOfNew(table, row);
      return { table, row, key };
    });
  });
  if (wanted.length > mostWrites) {
    throw refused('Too many items requested for the BatchWriteItem call');
  }
  if (new Set(wanted.map(({ key }) => key.toString('latin1'))).size < wanted.length) {
    throw refused('Provided list of item keys contains duplicates');
  }
  const units = new Map<string, Units>();
  await Promise.all(
    wanted.map(async ({ table, row, key }) => {
      const { before } = await rows.change(table, key, () => row);
      if (isAsked(input)) addUnits(units, table.name, writeUnits(table, before, row));
    }),
  );
  return {
    UnprocessedItems: {},
    ...consumedOfEach(input, units),
  };
}

function checkSize(item: Item, refusal: string): void {
  if (sizeOfItem(item) > largestItem) throw refused(refusal);
}

/** @returns the attributes that a write was asked to return */
function returned(
  asked: string | undefined,
  before: Item | undefined,
  after: Item | undefined,
  bound: Bound,
): Item | undefined {
  const attributes = attributesOf(asked, before, after, bound);
  return attributes === undefined || Object.keys(attributes).length === 0 ? undefined : attributes;
}

function attributesOf(
  asked: string | undefined,
  before: Item | undefined,
  after: Item | undefined,
  { updated }: Bound,
): Item | undefined {
  switch (asked) {
    case 'ALL_OLD':
      return before;
    case 'ALL_NEW':
      return after;
    case 'UPDATED_OLD':
      return before && updated?.(before);
    case 'UPDATED_NEW':
      return after && updated?.(after);
    default:
      return undefined;
  }
}
