/**
 * The contents of a store as lines of JSON, independent of the store's format: rows, queued messages, schedules and objects.
 */
import * as z from 'zod/mini';
import { textToBytes } from '../dynamodb/codec.ts';
import { behindAll } from '../dynamodb/keys.ts';
import { Rows } from '../dynamodb/rows.ts';
import { allTables, keyOf, tableNamed } from '../dynamodb/table.ts';
import { checkedItem, type Item } from '../dynamodb/values.ts';
import { jsonOrUndefined } from '../json.ts';
import { objectKeys, objectsIn } from '../s3/objects.ts';
import {
  putSchedule,
  storedSchedule,
  storedSchedules,
  type StoredSchedule,
} from '../scheduler/storedSchedules.ts';
import { messageKey, queuedMessage, storedMessages, toBytes as messageBytes } from '../sqs/storedMessages.ts';
import { StageError } from '../stage/stageError.ts';
import type { Snapshot, Store } from '../store/store.ts';

const row = z.object({ table: z.string(), item: z.record(z.string(), z.unknown()) });
const object = z.object({
  key: z.string(),
  contentType: z.string(),
  modifiedAt: z.number(),
  body: z.string(),
});
const line = z.union([
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

/** Lines that are written in one transaction. */
const together = 1_000;

/** Writes contents to an empty store. */
export class Filler {
  readonly #store: Store;
  readonly #rows: Rows;
  entries = 0;

  constructor(store: Store) {
    this.#store = store;
    this.#rows = new Rows(store);
  }

  /** @throws StageError if the line is invalid */
  async take(text: string): Promise<void> {
    const { data } = line.safeParse(jsonOrUndefined(text));
    if (data === undefined) throw new StageError('The backup has a line that this release does not know.');
    if ('row' in data) await this.#row(data.row.table, checkedItem(textToBytes(data.row.item)));
    else if ('message' in data) await this.#write(messageKey(data.message), messageBytes(data.message));
    else if ('schedule' in data) await this.#schedule(data.schedule);
    else {
      const { key, body, ...about } = data.object;
      this.entries += 1;
      await objectsIn(this.#store, Date.now).put(key, { ...about, body: Buffer.from(body, 'base64') });
    }
  }

  async #row(tableName: string, item: Item): Promise<void> {
    const table = tableNamed(tableName);
    void this.#rows.change(table, keyOf(table, item), () => item);
    await this.#wait();
  }

  async #schedule(schedule: StoredSchedule): Promise<void> {
    void this.#store.change((write) => {
      putSchedule(write, schedule, undefined, schedule);
    });
    await this.#wait();
  }

  async #write(key: Buffer, value: Buffer): Promise<void> {
    this.#store.write(key, value);
    await this.#wait();
  }

  async #wait(): Promise<void> {
    this.entries += 1;
    if (this.entries % together === 0) await this.#store.committed();
  }
}

const jsonIn = (value: Buffer): string => value.toString('utf8', 1);
