/** Checks each entry of a store, and compares the indexes with the rows. */
import { decode } from '../dynamodb/codec.ts';
import { behindAll } from '../dynamodb/keys.ts';
import { entryKey } from '../dynamodb/indexes.ts';
import { allTables, keyOf, type Table } from '../dynamodb/table.ts';
import { checkedItem } from '../dynamodb/values.ts';
import { objectKeys, objectsIn } from '../s3/objects.ts';
import { storedSchedules } from '../scheduler/storedSchedules.ts';
import { storedMessages } from '../sqs/storedMessages.ts';
import type { Store } from '../store/store.ts';
import type { Checked } from './jobs.ts';

interface Found {
  readonly counts: Record<string, number>;
  readonly problems: string[];
}

export function checkEntries(store: Store): Checked {
  const found: Found = { counts: {}, problems: [] };
  for (const table of allTables) {
    noting(found, `The table ${table.name}`, () => {
      checkRows(store, table, found);
    });
  }
  count(found, 'messages in queues', () => storedMessages(store));
  count(found, 'schedules', () => storedSchedules(store));
  count(found, 'objects', () => wholeObjects(store));
  return found;
}

function checkRows(store: Store, table: Table, found: Found): void {
  const { name, prefix, indexes } = table;
  let rows = 0;
  const entries = new Map(indexes.map((index) => [index, 0]));
  for (const { key, value } of store.range({ from: prefix, to: behindAll(prefix) })) {
    const row = checkedItem(decode(value));
    rows += 1;
    if (!keyOf(table, row).equals(key)) found.problems.push(`A row of ${name} is at the key of another row.`);
    for (const index of indexes) {
      const rowKey = key.subarray(prefix.length);
      const entry = entryKey(index, row, rowKey);
      if (entry === undefined) continue;
      entries.set(index, (entries.get(index) ?? 0) + 1);
      if (store.get(entry)?.equals(rowKey) === true) continue;
      found.problems.push(`A row of ${name} is missing in its index ${index.name}.`);
    }
  }
  found.counts[`rows of ${name}`] = rows;
  for (const [index, expected] of entries) {
    const there = [...store.keys({ from: index.prefix, to: behindAll(index.prefix) })].length;
    if (there > expected) {
      found.problems.push(
        `The index ${index.name} of ${name} has ${there - expected} entries without a row.`,
      );
    }
  }
}

function* wholeObjects(store: Store): Generator<string> {
  const objects = objectsIn(store, Date.now);
  for (const key of objectKeys(store)) {
    if (objects.get(key) === undefined) throw new Error(`the object ${key} is not whole`);
    yield key;
  }
}

function count(found: Found, what: string, read: () => Iterable<unknown>): void {
  noting(found, `The part of the store of ${what}`, () => {
    let number = 0;
    for (const _one of read()) number += 1;
    found.counts[what] = number;
  });
}

function noting(found: Found, what: string, read: () => void): void {
  try {
    read();
  } catch (error) {
    found.problems.push(`${what} cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  }
}
