/** Capacity units, as defined in "DynamoDB read consumption" and "DynamoDB write consumption" of the developer guide. */
import { entryKey, projected } from './indexes.ts';
import { sizeOfItem } from './sizes.ts';
import type { Index, Table } from './table.ts';
import { areEqual, type Item } from './values.ts';

const readBytes = 4_096;
const writeBytes = 1_024;

/** The units of a call in a table, and in its indexes by name. */
export interface Units {
  readonly table: number;
  readonly indexes: Readonly<Record<string, number>>;
}

/** @param bytes of all rows that were read together */
export function readUnits(bytes: number, isConsistent = false): number {
  return Math.max(1, Math.ceil(bytes / readBytes)) / (isConsistent ? 1 : 2);
}

/** The units of a write: the larger of the row's sizes before and after, plus the units of its index entries. */
export function writeUnits(table: Table, before: Item | undefined, after: Item | undefined): Units {
  const rows = [before, after].flatMap((row) => (row === undefined ? [] : [sizeOfItem(row)]));
  const indexes = table.indexes.map((index) => [index.name, indexUnits(index, before, after)] as const);
  return {
    table: unitsOf(Math.max(0, ...rows)),
    indexes: Object.fromEntries(indexes.filter(([, units]) => units > 0)),
  };
}

const unitsOf = (bytes: number): number => Math.max(1, Math.ceil(bytes / writeBytes));

/** An entry that is added, deleted or changed is one write. If its key changes, it is two. */
function indexUnits(index: Index, before: Item | undefined, after: Item | undefined): number {
  const [was, is] = [before, after].map((row) => row && entryOf(index, row));
  if (was === undefined || is === undefined) return was?.units ?? is?.units ?? 0;
  if (!was.key.equals(is.key)) return was.units + is.units;
  return areEqual({ M: was.entry }, { M: is.entry }) ? 0 : Math.max(was.units, is.units);
}

function entryOf(index: Index, row: Item) {
  const key = entryKey(index, row, Buffer.alloc(0));
  if (key === undefined) return undefined;
  const entry = projected(index, row);
  return { key, entry, units: unitsOf(sizeOfItem(entry)) };
}

/** The part of a call that says which units to return. */
interface Asked {
  readonly ReturnConsumedCapacity?: string | undefined;
}

/** The units of one table, as a field of the answer. */
export const consumed = (asked: Asked, table: string, units: () => Units): object =>
  isAsked(asked) ? { ConsumedCapacity: capacityOf(asked, table, units()) } : {};

/** The units of several tables, as a field of the answer. */
export const consumedOfEach = (asked: Asked, units: ReadonlyMap<string, Units>): object =>
  isAsked(asked) ? { ConsumedCapacity: [...units].map(([table, its]) => capacityOf(asked, table, its)) } : {};

export const isAsked = ({ ReturnConsumedCapacity: asked = 'NONE' }: Asked): boolean => asked !== 'NONE';

function capacityOf({ ReturnConsumedCapacity }: Asked, TableName: string, { table, indexes }: Units): object {
  const total = Object.values(indexes).reduce((sum, units) => sum + units, table);
  if (ReturnConsumedCapacity !== 'INDEXES') return { TableName, CapacityUnits: total };
  const each: object = Object.fromEntries(
    Object.entries(indexes).map(([name, CapacityUnits]) => [name, { CapacityUnits }]),
  );
  return {
    TableName,
    CapacityUnits: total,
    Table: { CapacityUnits: table },
    ...(Object.keys(each).length > 0 && { GlobalSecondaryIndexes: each }),
  };
}

export function addUnits(all: Map<string, Units>, name: string, { table, indexes }: Units): void {
  const sum = all.get(name) ?? { table: 0, indexes: {} };
  const names = new Set([...Object.keys(sum.indexes), ...Object.keys(indexes)]);
  all.set(name, {
    table: sum.table + table,
    indexes: Object.fromEntries(
      [...names].map((index) => [index, (sum.indexes[index] ?? 0) + (indexes[index] ?? 0)]),
    ),
  });
}
