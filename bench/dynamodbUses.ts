/** Converts DynamoDB calls to billed uses, by the rules of its documents. */
import { isDeepStrictEqual } from 'node:util';
import * as z from 'zod/mini';
import { tables, type TableShape } from '../lambdas/aws/resources.ts';
import { indexMark } from '../verify/prices/bill.ts';
import { secondsOfMonth, type Unit } from '../verify/prices/prices.ts';
import { itemBytes, readUnits, writeUnits, type Item } from './units.ts';

export interface Step {
  readonly what: string;
  readonly unit: Unit;
  readonly amount: number;
  /** Gigabyte-months of a written row until DynamoDB removes it. */
  readonly gbMonths?: number;
}

/** Marks a write whose condition was false. */
export const refusedMark = ', refused';

export type TableName = keyof typeof tables;
type Index = TableShape['indexes'][number];

export const item = z.custom<Item>((value: unknown) => typeof value === 'object' && value !== null);
// The stand-ins' tables have the names of their shapes.
export const tableName = z.custom<TableName>(
  (name) => typeof name === 'string' && Object.hasOwn(tables, name),
);

const single = z.object({
  TableName: tableName,
  ConsistentRead: z._default(z.boolean(), false),
  Item: z.optional(item),
  Key: z.optional(item),
});
const writeRequests = z.array(
  z.union([
    z.object({ PutRequest: z.object({ Item: item }) }),
    z.object({ DeleteRequest: z.object({ Key: item }) }),
  ]),
);
const batchWrite = z.object({ RequestItems: z.record(z.string(), writeRequests) });
/** A query that returns a part of a partition's last rows. It is billed by whole rows. */
const partOfLast = z.object({
  ProjectionExpression: z.string(),
  ScanIndexForward: z.literal(false),
  Limit: z.number(),
  KeyConditionExpression: z.literal('#owner = :owner'),
  ExpressionAttributeValues: z.object({ ':owner': z.object({ S: z.string() }) }),
});
const response = z.object({
  Item: z.optional(item),
  Items: z.optional(z.array(item)),
  /** The whole item after an update, if the update returns it. */
  Attributes: z.optional(item),
});

const batchGet = z.object({
  RequestItems: z.record(
    z.string(),
    z.object({ Keys: z.array(item), ConsistentRead: z._default(z.boolean(), false) }),
  ),
});

const capacity = z.object({ CapacityUnits: z.number() });
/** Not every stand-in for DynamoDB counts units. */
const counted = z.object({ ConsumedCapacity: z.optional(z.union([capacity, z.array(capacity)])) });

interface WrittenRow {
  readonly table: TableName;
  readonly row: Item;
}

/** Remembers written rows, because a write is billed by the larger of the row before and after. */
export class DynamodbUses {
  readonly #rows = new Map<string, Item>();

  /**
   * Records a call.
   *
   * @returns its uses
   * @throws Error if there is no rule for the call, or if the stand-in counted differently
   */
  usesOf(operation: string, input: object, output: object): readonly Step[] {
    const uses = this.#usesByRule(operation, input, output);
    const { ConsumedCapacity: consumed } = counted.parse(output);
    if (consumed === undefined) return uses;
    const units = uses.reduce((sum, { amount }) => sum + amount, 0);
    const theirs = [consumed].flat().reduce((sum, { CapacityUnits }) => sum + CapacityUnits, 0);
    if (theirs !== units) {
      const what = uses.map(({ what: name }) => name).join(', ');
      throw new Error(`${what}: that takes ${units} units by the documents, ${theirs} by its count.`);
    }
    return uses;
  }

  #usesByRule(operation: string, input: object, output: object): readonly Step[] {
    if (operation === 'BatchGetItem') return this.#readEach(input);
    const changed = changedRows(operation, input, output);
    const steps = [
      ...changed.written.flatMap((one) => this.#write(operation, one)),
      ...changed.deleted.map((one) => this.#delete(operation, one)),
    ];
    return steps.length > 0 ? steps : [this.#read(operation, input, output)];
  }

  note(operation: string, input: object, output: object): void {
    const { written, deleted } = changedRows(operation, input, output);
    for (const { table, row } of deleted) this.#rows.delete(keyOf(table, row));
    for (const { table, row } of written) this.#rows.set(keyOf(table, row), row);
  }

  /** The use of a write whose condition was false. It is billed by the existing row. */
  refused(operation: string, input: object): Step {
    const { TableName: table, Item: put, Key: key } = single.parse(input);
    const row = put ?? key ?? {};
    const there = this.#rows.get(keyOf(table, row));
    const amount = there === undefined ? 1 : writeUnits(there);
    return { what: `${operation} ${placeOf(table, row)}${refusedMark}`, unit: 'dynamoWrite', amount };
  }

  /** Each row of a batch is billed as a separate read of the whole row. */
  #readEach(input: object): readonly Step[] {
    return Object.entries(batchGet.parse(input).RequestItems).flatMap(([name, { Keys, ConsistentRead }]) => {
      const table = tableName.parse(name);
      return Keys.map((key): Step => {
        const row = this.#rows.get(keyOf(table, key));
        const amount = readUnits(row === undefined ? [] : [row], ConsistentRead);
        return { what: `BatchGetItem ${placeOf(table, key)}`, unit: 'dynamoRead', amount };
      });
    });
  }

  #read(operation: string, input: object, output: object): Step {
    if (!['GetItem', 'Query'].includes(operation)) {
      throw new Error(`There is no rule here for DynamoDB's ${operation}.`);
    }
    const { TableName: table, ConsistentRead: consistent, Key: key } = single.parse(input);
    const { Item: found, Items: all } = response.parse(output);
    const rows = this.#lastRows(table, input) ?? all ?? (found === undefined ? [] : [found]);
    const place = key === undefined ? queriedPlace(table, input) : placeOf(table, key);
    const mark = partOfLast.safeParse(input).success ? ', last row' : '';
    return { what: `${operation} ${place}${mark}`, unit: 'dynamoRead', amount: readUnits(rows, consistent) };
  }

  /** The whole rows of a query that returns only a part of each; undefined for other queries. */
  #lastRows(table: TableName, input: object): readonly Item[] | undefined {
    const { success, data } = partOfLast.safeParse(input);
    if (!success) return undefined;
    const { sortKey = '' }: TableShape = tables[table];
    const begin = JSON.stringify([table, data.ExpressionAttributeValues[':owner']]).slice(0, -1);
    const sortText = (row: Item): string => row[sortKey]?.S ?? '';
    return [...this.#rows]
      .flatMap(([key, row]) => (key.startsWith(`${begin},`) ? [row] : []))
      .toSorted((one, other) => (sortText(one) < sortText(other) ? 1 : -1))
      .slice(0, data.Limit);
  }

  #delete(operation: string, { table, row: key }: WrittenRow): Step {
    const { indexes }: TableShape = tables[table];
    if (indexes.length > 0) throw new Error(`There is no rule here for a delete in ${table}'s indexes.`);
    const before = this.#rows.get(keyOf(table, key));
    this.#rows.delete(keyOf(table, key));
    const amount = before === undefined ? 1 : writeUnits(before);
    return { what: `${operation} ${placeOf(table, key)}, a delete`, unit: 'dynamoWrite', amount };
  }

  #write(operation: string, { table, row }: WrittenRow): readonly Step[] {
    const key = keyOf(table, row);
    const before = this.#rows.get(key);
    this.#rows.set(key, row);
    const units = Math.max(writeUnits(row), before === undefined ? 0 : writeUnits(before));
    const shape: TableShape = tables[table];
    const months = monthsOf(shape, row);
    return [
      {
        what: `${operation} ${placeOf(table, row)}`,
        unit: 'dynamoWrite',
        amount: units,
        gbMonths: grownGb(before, row) * months,
      },
      ...shape.indexes.flatMap((index) => {
        const project = projection(shape, index);
        return indexWrites(project, index, before, row).map((amount): Step => ({
          what: `${indexMark}${index.name}`,
          unit: 'dynamoWrite',
          amount,
          gbMonths: grownGb(project(before), project(row)) * months,
        }));
      }),
    ];
  }
}

/** Bytes that DynamoDB adds to each row, in a table and in an index: "DynamoDB item sizes and formats". */
const overheadBytes = 100;
/** Seconds from a row's expiry to its removal, "typically within two days". */
const removalSeconds = 2 * 24 * 3_600;

/** Gigabytes by which a write enlarges a table or index. */
function grownGb(before: Item | undefined, after: Item | undefined): number {
  const bytes = (row: Item | undefined): number => (row === undefined ? 0 : itemBytes(row) + overheadBytes);
  return (bytes(after) - bytes(before)) / 2 ** 30;
}

/** Months until a row is removed; 0 for a permanent row, which belongs to no message. */
function monthsOf({ ttl }: TableShape, row: Item): number {
  const expiresAt = ttl === undefined ? undefined : row[ttl]?.N;
  if (expiresAt === undefined) return 0;
  return (Number(expiresAt) - Date.now() / 1_000 + removalSeconds) / secondsOfMonth;
}

/** The rows that a call writes, and the keys of those that it deletes. */
function changedRows(operation: string, input: object, output: object) {
  const written: WrittenRow[] = [];
  const deleted: WrittenRow[] = [];
  if (operation === 'PutItem' || operation === 'UpdateItem') {
    const { TableName: table, Item: put } = single.parse(input);
    const row = put ?? response.parse(output).Attributes;
    if (row !== undefined) written.push({ table, row });
  }
  if (operation === 'BatchWriteItem')
    for (const [name, requests] of Object.entries(batchWrite.parse(input).RequestItems))
      for (const one of requests) {
        const table = tableName.parse(name);
        if ('PutRequest' in one) written.push({ table, row: one.PutRequest.Item });
        else deleted.push({ table, row: one.DeleteRequest.Key });
      }
  return { written, deleted };
}

/**
 * A table's name in the bill. Lanes have their kind too, because an account's lane costs almost nothing, unlike a key's;
 * workflows have the kind of partition.
 */
function placeOf(table: TableName, row: Item): string {
  switch (table) {
    case 'lanes':
      return placed(table, row[tables.lanes.partitionKey]?.S?.split('#')[1]);
    case 'workflows':
      return placed(table, partitionKinds.get(row[tables.workflows.partitionKey]?.S?.split('#')[0]));
    default:
      return table;
  }
}
const placed = (table: TableName, kind: string | undefined): string =>
  kind === undefined ? table : `${table} (${kind})`;
const partitionKinds: ReadonlyMap<string | undefined, string> = new Map([
  ['run', 'journal'],
  ['runs', 'list'],
  ['event', 'waiters'],
]);

function queriedPlace(table: TableName, input: object): string {
  const { success, data } = ofOwner.safeParse(input);
  const row: Item = success ? { owner: data.ExpressionAttributeValues[':owner'] } : {};
  return placeOf(table, row);
}
const ofOwner = z.object({
  ExpressionAttributeValues: z.object({ ':owner': z.object({ S: z.string() }) }),
});

function keyOf(table: TableName, row: Item): string {
  const { partitionKey, sortKey }: TableShape = tables[table];
  return JSON.stringify([table, row[partitionKey], sortKey === undefined ? undefined : row[sortKey]]);
}

type Projection = (row: Item | undefined) => Item | undefined;

/** Makes a function that returns the part of a row that is in an index; undefined if the row lacks the index's keys. */
export const projection =
  (shape: TableShape, { partitionKey, sortKey, includes }: Index): Projection =>
  (row) => {
    if (row === undefined || !(sortKey in row && partitionKey in row)) return undefined;
    if (includes === undefined) return row;
    const names = [shape.partitionKey, shape.sortKey ?? '', partitionKey, sortKey, ...includes];
    return Object.fromEntries(Object.entries(row).filter(([name]) => names.includes(name)));
  };

/** The units of each write in an index: none if the entry does not change, and two writes if the row moves. */
function indexWrites(
  project: Projection,
  { partitionKey, sortKey }: Index,
  before: Item | undefined,
  after: Item,
): readonly number[] {
  const was = project(before);
  const is = project(after);
  if (was === undefined) return is === undefined ? [] : [writeUnits(is)];
  if (is === undefined) return [writeUnits(was)];
  if (isDeepStrictEqual(was, is)) return [];
  const stays = [partitionKey, sortKey].every((name) => isDeepStrictEqual(was[name], is[name]));
  return stays ? [Math.max(writeUnits(was), writeUnits(is))] : [writeUnits(was), writeUnits(is)];
}
