import {
  BatchGetItemCommand,
  BatchWriteItemCommand,
  DynamoDBClient,
  GetItemCommand,
  QueryCommand,
  ScanCommand,
  type ScanCommandInput,
  type ScanCommandOutput,
  type AttributeValue,
  type KeysAndAttributes,
  type QueryCommandInput,
  type QueryCommandOutput,
  UpdateItemCommand,
  type UpdateItemCommandInput,
  type UpdateItemCommandOutput,
  type WriteRequest,
} from '@aws-sdk/client-dynamodb';
import { marshall, unmarshall } from '@aws-sdk/util-dynamodb';
import { setTimeout } from 'node:timers/promises';
import { clientOptions } from './clientOptions.ts';
import { prepareClient } from './functionClient.ts';
import { TransientError } from '../error/transientError.ts';
import { chunksOf, eachOf } from '../shared/lists.ts';
import { settings } from './settings.ts';

const open = (region?: string): DynamoDBClient =>
  prepareClient(
    'Dynamodb',
    new DynamoDBClient({ ...clientOptions('quick'), ...(region !== undefined && { region }) }),
  );

export const dynamodb = open();

const elsewhere = new Map<string, DynamoDBClient>();

/** A client for the few tables that other regions use. */
export function dynamodbIn(region: string): DynamoDBClient {
  if (region === settings.region) return dynamodb;
  const known = elsewhere.get(region) ?? open(region);
  elsewhere.set(region, known);
  return known;
}

export type Row = Record<string, unknown>;
export type Key = Record<string, AttributeValue>;

export const toItem = (row: object): Key => marshall(row, { removeUndefinedValues: true });

/**
 * Wraps a failure so that the SDK does not retry it. The SDK decides by an error's name and cause, which this
 * hides.
 */
class OnlyTry extends Error {
  readonly failure: unknown;
  constructor(failure: unknown) {
    super('This was the only try.');
    this.failure = failure;
  }
}

/** An update that is sent once. It is a class, because clients cache the steps of commands by class. */
class UpdateItemOnce extends UpdateItemCommand {
  constructor(input: UpdateItemCommandInput) {
    super(input);
    this.middlewareStack.add(
      (next) => (args) =>
        next(args).catch((error: unknown) => {
          throw new OnlyTry(error);
        }),
      { step: 'finalizeRequest', name: 'onlyTry' },
    );
  }
}

/**
 * Adds to a row without retries, because a retry after a lost answer would add twice.
 *
 * @throws at the first failure, also if throttled. The addition may still have been made
 */
export async function updateOnce(input: UpdateItemCommandInput): Promise<UpdateItemCommandOutput> {
  try {
    return await dynamodb.send(new UpdateItemOnce(input));
  } catch (error) {
    throw error instanceof OnlyTry ? error.failure : error;
  }
}

export async function getRow(
  table: string,
  key: object,
  consistent: boolean,
  region?: string,
): Promise<Row | undefined> {
  const client = region === undefined ? dynamodb : dynamodbIn(region);
  const { Item } = await client.send(
    new GetItemCommand({ TableName: table, Key: toItem(key), ConsistentRead: consistent }),
  );
  return Item === undefined ? undefined : unmarshall(Item);
}

/** The most rows that a query with a limit reads at once. DynamoDB reads at most 1 MB at once. */
const mostRowsPerRead = 640;

/**
 * Reads a query page by page, until the caller stops. With a `Limit`, each page has twice as many rows as the
 * one before, because a caller who continues finds few matching rows. From the second page on, it reads one
 * page ahead.
 *
 * @param until Unix milliseconds after which no further page is read, even if all pages were empty
 */
export async function* queryPages(
  input: QueryCommandInput,
  client = dynamodb,
  until = Infinity,
): AsyncGenerator<QueryCommandOutput> {
  let limit = input.Limit;
  const read = (from: Key | undefined): Promise<QueryCommandOutput> => {
    const page = client.send(new QueryCommand({ ...input, Limit: limit, ExclusiveStartKey: from }));
    limit &&= Math.min(2 * limit, mostRowsPerRead);
    return page;
  };
  let next: Promise<QueryCommandOutput> | undefined = read(undefined);
  for (let pages = 1; next !== undefined; pages += 1) {
    const page: QueryCommandOutput = await next;
    const from = page.LastEvaluatedKey;
    const goesOn = from !== undefined && Date.now() <= until;
    const ahead: Promise<QueryCommandOutput> | undefined =
      goesOn && limit !== undefined && pages > 1 ? read(from) : undefined;
    // The error is thrown when this page is read. If the page is never read, it does not matter.
    ahead?.catch(() => undefined);
    yield page;
    next = ahead ?? (goesOn && Date.now() <= until ? read(from) : undefined);
  }
}

export async function* queryItems(...query: Parameters<typeof queryPages>): AsyncGenerator<Key> {
  for await (const { Items = [] } of queryPages(...query)) yield* Items;
}

export async function* queryRows(...query: Parameters<typeof queryItems>): AsyncGenerator<Row> {
  for await (const item of queryItems(...query)) yield unmarshall(item);
}

/** Reads all rows of a table, one page ahead. Rows of a partition are adjacent. */
export async function* scanRows(input: ScanCommandInput): AsyncGenerator<Row> {
  const read = (from: Key | undefined): Promise<ScanCommandOutput> => {
    const page = dynamodb.send(new ScanCommand({ ...input, ExclusiveStartKey: from }));
    // The error is thrown when this page is read. If the page is never read, it does not matter.
    page.catch(() => undefined);
    return page;
  };
  let next: Promise<ScanCommandOutput> | undefined = read(undefined);
  while (next !== undefined) {
    const { Items = [], LastEvaluatedKey: from }: ScanCommandOutput = await next;
    next = from && read(from);
    for (const item of Items) yield unmarshall(item);
  }
}

/**
 * Reads the rows of a partition in the order of their sort keys, strongly consistent.
 *
 * @param behind the sort key of the row before the first one
 * @param attributes a projection expression; all attributes if undefined
 */
export const rowsOf = (
  table: { readonly name: string; readonly partitionKey: string; readonly sortKey: string },
  partition: string,
  behind?: string,
  attributes?: string,
): AsyncGenerator<Row> =>
  queryRows({
    TableName: table.name,
    ConsistentRead: true,
    ProjectionExpression: attributes,
    KeyConditionExpression: `#partition = :partition${behind === undefined ? '' : ' AND #sort > :behind'}`,
    ExpressionAttributeNames: {
      '#partition': table.partitionKey,
      ...(behind !== undefined && { '#sort': table.sortKey }),
    },
    ExpressionAttributeValues: {
      ':partition': { S: partition },
      ...(behind !== undefined && { ':behind': { S: behind } }),
    },
  });

/**
 * Unprocessed rows are retried for this long. The last try takes up to 13 s more, and an API function is
 * ended after 28 s.
 */
const batchTimeoutMs = 10_000;

/** DynamoDB's maximum for one read. It returns at most 16 MB. */
const rowsPerGet = 100;

type Reading = Pick<
  KeysAndAttributes,
  'ProjectionExpression' | 'ExpressionAttributeNames' | 'ConsistentRead'
>;

/**
 * Reads rows by key, 100 at a time, eventually consistent by default. If the table is throttled, keys that it
 * did not process are retried.
 *
 * @param keys no key twice
 * @returns the rows that exist, in any order
 * @throws if something is still unprocessed after 10 s
 */
export async function getRows(
  table: string,
  keys: readonly object[],
  reading: Reading,
): Promise<readonly Row[]> {
  const until = Date.now() + batchTimeoutMs;
  const found = await Promise.all(
    chunksOf(keys, rowsPerGet).map((chunk) => getSome(table, chunk, reading, until)),
  );
  return found.flat();
}

async function getSome(
  table: string,
  keys: readonly object[],
  reading: Reading,
  until: number,
): Promise<readonly Row[]> {
  const rows: Row[] = [];
  let left: Key[] = keys.map(toItem);
  for (let waitMs = 50; ; waitMs = Math.min(waitMs * 2, 2_000)) {
    const { Responses, UnprocessedKeys } = await dynamodb.send(
      new BatchGetItemCommand({ RequestItems: { [table]: { ...reading, Keys: left } } }),
    );
    rows.push(...(Responses?.[table] ?? []).map((item) => unmarshall(item)));
    left = UnprocessedKeys?.[table]?.Keys ?? [];
    if (left.length === 0) return rows;
    if (Date.now() > until)
      throw new TransientError(`The table ${table} took too long to read ${left.length} rows.`);
    await setTimeout(waitMs * (0.5 + Math.random() / 2));
  }
}

/** DynamoDB's maximum for one write. */
const rowsPerWrite = 25;
const writesAtOnce = 8;

/**
 * Writes rows, 25 at a time, and replaces those with the same keys. If the table is throttled, rows that it
 * did not process are retried.
 *
 * @throws if something is still unprocessed after 10 s
 */
export const putAll = (table: string, rows: readonly object[]): Promise<void> =>
  writeAll(table, rows, (row) => ({ PutRequest: { Item: toItem(row) } }));

/**
 * Deletes rows like {@link putAll}. A missing row is not an error.
 *
 * @param keys no key twice
 */
export const deleteAll = (table: string, keys: readonly object[]): Promise<void> =>
  writeAll(table, keys, (key) => ({ DeleteRequest: { Key: toItem(key) } }));

function writeAll<T>(table: string, all: readonly T[], requestOf: (one: T) => WriteRequest): Promise<void> {
  const until = Date.now() + batchTimeoutMs;
  return eachOf(chunksOf(all, rowsPerWrite), writesAtOnce, (some) =>
    writeSome(table, some.map(requestOf), until),
  );
}

async function writeSome(table: string, all: readonly WriteRequest[], until: number): Promise<void> {
  let requests: WriteRequest[] = [...all];
  for (let waitMs = 50; ; waitMs = Math.min(waitMs * 2, 2_000)) {
    const { UnprocessedItems } = await dynamodb.send(
      new BatchWriteItemCommand({ RequestItems: { [table]: requests } }),
    );
    requests = UnprocessedItems?.[table] ?? [];
    if (requests.length === 0) return;
    if (Date.now() > until)
      throw new TransientError(`The table ${table} took too long to write ${requests.length} rows.`);
    await setTimeout(waitMs * (0.5 + Math.random() / 2));
  }
}
