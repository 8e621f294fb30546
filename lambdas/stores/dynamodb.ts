import {
  BatchWriteItemCommand,
  ConditionalCheckFailedException,
  DeleteItemCommand,
  DynamoDBClient,
  type DynamoDBClientConfig,
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
  type AttributeValue,
  type QueryCommandInput,
  type QueryCommandOutput,
} from '@aws-sdk/client-dynamodb';
import { marshall, unmarshall } from '@aws-sdk/util-dynamodb';
import { setTimeout } from 'node:timers/promises';
import { chunksOf } from '../domain/lists.ts';
import { settings } from '../settings.ts';

/**
 * The one client. A table answers in milliseconds; what takes seconds is a lost connection, and is tried again. What
 * waits for one of the agent's sockets counts as connecting: bulk operations must not fail over that.
 */
const options: DynamoDBClientConfig = {
  maxAttempts: 5,
  requestHandler: {
    connectionTimeout: 3_000,
    requestTimeout: 4_000,
    httpAgent: { maxSockets: 100 },
    httpsAgent: { maxSockets: 100 },
  },
};
export const dynamodb = new DynamoDBClient(options);

const elsewhere = new Map<string, DynamoDBClient>();

/** The client of a region, for the few tables that are reached from others. */
export function dynamodbIn(region: string): DynamoDBClient {
  if (region === settings.region) return dynamodb;
  const client = elsewhere.get(region) ?? new DynamoDBClient({ ...options, region });
  elsewhere.set(region, client);
  return client;
}

export type Row = Record<string, unknown>;
type Key = Record<string, AttributeValue>;

/** An item as a table holds it, of plain values. */
export const toItem = (row: object): Key => marshall(row, { removeUndefinedValues: true });

/**
 * Writes a row unless its key is taken.
 *
 * @returns whether it was written
 */
export async function putNew(table: string, sortKey: string, row: object): Promise<boolean> {
  return unlessRefused(
    dynamodb.send(
      new PutItemCommand({
        TableName: table,
        Item: toItem(row),
        ConditionExpression: 'attribute_not_exists(#key)',
        ExpressionAttributeNames: { '#key': sortKey },
      }),
    ),
  );
}

/** @returns whether the write's condition held */
export async function unlessRefused(write: Promise<unknown>): Promise<boolean> {
  try {
    await write;
    return true;
  } catch (error) {
    if (error instanceof ConditionalCheckFailedException) return false;
    throw error;
  }
}

/**
 * The condition that a row is as it was read, in a table by `accountId` whose rows have a version that each change raises.
 *
 * @param version undefined when there was no row
 */
export const unchanged = (version: number | undefined) =>
  version === undefined
    ? { ConditionExpression: 'attribute_not_exists(accountId)' }
    : {
        ConditionExpression: '#version = :version',
        ExpressionAttributeNames: { '#version': 'version' },
        ExpressionAttributeValues: { ':version': { N: String(version) } },
      };

/** Reads one row; undefined when there is none. */
export async function getRow(table: string, key: object, consistent: boolean): Promise<Row | undefined> {
  const { Item } = await dynamodb.send(
    new GetItemCommand({ TableName: table, Key: toItem(key), ConsistentRead: consistent }),
  );
  return Item === undefined ? undefined : unmarshall(Item);
}

export async function deleteRow(table: string, key: object): Promise<void> {
  await dynamodb.send(new DeleteItemCommand({ TableName: table, Key: toItem(key) }));
}

/** Reads all that a query finds, one page after the other, as far as the reader goes on asking. */
export async function* queryRows(input: QueryCommandInput, client = dynamodb): AsyncGenerator<Row> {
  let from: Key | undefined;
  do {
    const page: QueryCommandOutput = await client.send(
      new QueryCommand({ ...input, ExclusiveStartKey: from }),
    );
    for (const item of page.Items ?? []) yield unmarshall(item);
    from = page.LastEvaluatedKey;
  } while (from !== undefined);
}

/** All rows of a partition, in the order of their sort keys, strongly consistent. */
export const rowsOf = (table: string, partitionKey: string, partition: string): AsyncGenerator<Row> =>
  queryRows({
    TableName: table,
    ConsistentRead: true,
    KeyConditionExpression: '#partition = :partition',
    ExpressionAttributeNames: { '#partition': partitionKey },
    ExpressionAttributeValues: { ':partition': { S: partition } },
  });

/** DynamoDB takes 25 rows at once. */
const rowsPerWrite = 25;
/** How long what was left unprocessed is tried again; a request to the API ends after 29 s. */
const patienceMs = 15_000;

/**
 * Writes rows over whatever has their keys, 25 at a time. What a throttled table leaves unprocessed is written again.
 *
 * @throws when something is still unprocessed after 15 s
 */
export async function putAll(table: string, rows: readonly object[]): Promise<void> {
  const until = Date.now() + patienceMs;
  await Promise.all(chunksOf(rows, rowsPerWrite).map((chunk) => putSome(table, chunk, until)));
}

async function putSome(table: string, rows: readonly object[], until: number): Promise<void> {
  let requests = rows.map((row) => ({ PutRequest: { Item: toItem(row) } }));
  for (let waitMs = 50; ; waitMs = Math.min(waitMs * 2, 2_000)) {
    const { UnprocessedItems } = await dynamodb.send(
      new BatchWriteItemCommand({ RequestItems: { [table]: requests } }),
    );
    requests = (UnprocessedItems?.[table] ?? []).flatMap(({ PutRequest }) =>
      PutRequest?.Item === undefined ? [] : [{ PutRequest: { Item: PutRequest.Item } }],
    );
    if (requests.length === 0) return;
    if (Date.now() > until)
      throw new Error(`The table ${table} took too long to write ${requests.length} rows.`);
    await setTimeout(waitMs * (0.5 + Math.random() / 2));
  }
}
