/**
 * The contents of a store as lines of JSON, which do not depend on the store's format: rows, queued messages,
 * schedules and objects.
 */
import * as z from 'zod/mini';
import { decode, textToBytes } from '../dynamodb/codec.ts';
import { behindAll } from '../dynamodb/keys.ts';
import { Rows } from '../dynamodb/rows.ts';
import { allTables, keyOf, tableNamed, type Table } from '../dynamodb/table.ts';
import { checkedItem, type Item } from '../dynamodb/values.ts';
import { jsonOrUndefined } from '../json.ts';
import { objectKeys, objectsIn, type StoredObject } from '../s3/objects.ts';
import {
  putSchedule,
  storedSchedule,
  storedSchedules,
  type StoredSchedule,
} from '../scheduler/storedSchedules.ts';
import {
  messageKey,
  queuedMessage,
  storedMessageEntries,
  storedMessages,
  toBytes as messageBytes,
  type QueuedMessage,
} from '../sqs/storedMessages.ts';
import { StageError } from '../stage/stageError.ts';
import type { Snapshot, Store, Write } from '../store/store.ts';

const row = z.object({ table: z.string(), item: z.record(z.string(), z.unknown()) });
const object = z.object({
  key: z.string(),
  contentType: z.string(),
  modifiedAt: z.number(),
  body: z.string(),
});
const textLine = z.union([
  z.strictObject({ row }),
  z.strictObject({ message: queuedMessage }),
  z.strictObject({ schedule: storedSchedule }),
  z.strictObject({ object }),
]);

export function* linesOf(store: Store, at: Snapshot): Generator<string> {
  for (const { name, prefix } of allTables) {
    for (const { value } of store.range({ from: prefix, to: behindAll(prefix), at })) {
      yield `{"row":{"table":"${name}","item":${jsonIn(value)}}}\n`;
    }
  }
  for (const message of storedMessages(store, at)) yield `${JSON.stringify({ message })}\n`;
  for (const schedule of storedSchedules(store, at)) yield `${JSON.stringify({ schedule })}\n`;
  const objects = objectsIn(store, Date.now);
  for (const key of objectKeys(store, at)) {
    const found = objects.get(key, at);
    if (found === undefined) throw new Error(`The object ${key} is not whole.`);
    const { contentType, modifiedAt, body } = found;
    yield `${JSON.stringify({ object: { key, contentType, modifiedAt, body: body.toString('base64') } })}\n`;
  }
}

export type Line =
  | { readonly row: { readonly table: Table; readonly item: Item } }
  /** `key` is the message's key in the store. */
  | { readonly message: QueuedMessage; readonly key: Buffer }
  | { readonly schedule: StoredSchedule }
  | { readonly object: { readonly key: string; readonly load: () => StoredObject | undefined } };

export function* contentsOf(store: Store): Generator<Line> {
  for (const table of allTables) {
    for (const { value } of store.range({ from: table.prefix, to: behindAll(table.prefix) }))
      yield { row: { table, item: checkedItem(decode(value)) } };
  }
  yield* storedMessageEntries(store);
  for (const schedule of storedSchedules(store)) yield { schedule };
  const objects = objectsIn(store, Date.now);
  for (const key of objectKeys(store)) yield { object: { key, load: () => objects.get(key) } };
}

/** @throws StageError if the line is invalid */
function parseLine(text: string): Line {
  const { data } = textLine.safeParse(jsonOrUndefined(text));
  if (data === undefined) throw new StageError('The backup has a line that this release does not know.');
  if ('row' in data)
    return { row: { table: tableNamed(data.row.table), item: checkedItem(textToBytes(data.row.item)) } };
  if ('message' in data) return { ...data, key: messageKey(data.message) };
  if ('schedule' in data) return data;
  const { key, body, ...about } = data.object;
  return { object: { key, load: () => ({ ...about, body: Buffer.from(body, 'base64') }) } };
}

/** How many lines are written in one transaction. */
const together = 1_000;

/** Writes lines to a store. `flush` must be called at the end. */
export class Filler {
  readonly #store: Store;
  readonly #rows: Rows;
  readonly #takes: (line: Line) => boolean;
  readonly #lines: Line[] = [];
  entries = 0;

  /** @param takes whether to write a line; by default all */
  constructor(store: Store, takes: (line: Line) => boolean = () => true) {
    this.#store = store;
    this.#rows = new Rows(store);
    this.#takes = takes;
  }

  /** @throws StageError if the line is invalid */
  async take(text: string): Promise<void> {
    const line = parseLine(text);
    if (!this.#takes(line)) return;
    this.entries += 1;
    this.#lines.push(line);
    if ('object' in line || this.#lines.length === together) await this.flush();
  }

  async flush(): Promise<void> {
    const lines = this.#lines.splice(0);
    await this.#store.change((write) => {
      for (const line of lines) this.put(write, line);
    });
  }

  /** Writes a line as part of a transaction. */
  put(write: Write, line: Line): void {
    if ('row' in line) {
      const { table, item } = line.row;
      this.#rows.changeIn(write, table, keyOf(table, item), () => item);
    } else if ('message' in line) write(messageKey(line.message), messageBytes(line.message));
    else if ('schedule' in line) putSchedule(write, line.schedule, undefined, line.schedule);
    else objectsIn(this.#store, Date.now).change(write, line.object.key, line.object.load());
  }

  /** Prepares the removal of a line. Keeps only its key in memory, because there may be many. */
  removalOf(line: Line): (write: Write) => void {
    if ('row' in line) {
      const { table } = line.row;
      const key = keyOf(table, line.row.item);
      return (write) => this.#rows.changeIn(write, table, key, () => undefined);
    }
    if ('message' in line) {
      const { key } = line;
      return (write) => {
        write(key, undefined);
      };
    }
    if ('schedule' in line) {
      const { schedule } = line;
      return (write) => {
        putSchedule(write, schedule, schedule, undefined);
      };
    }
    const { key } = line.object;
    return (write) => {
      objectsIn(this.#store, Date.now).change(write, key, undefined);
    };
  }
}

const jsonIn = (value: Buffer): string => value.toString('utf8', 1);
