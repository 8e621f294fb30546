/** Makes the tables that the resource table lists, with their indexes and expiry, where they are missing. */
import {
  CreateTableCommand,
  DeleteItemCommand,
  DescribeTimeToLiveCommand,
  paginateScan,
  UpdateTimeToLiveCommand,
  waitUntilTableExists,
  type AttributeDefinition,
  type DynamoDBClient,
  type KeySchemaElement,
} from '@aws-sdk/client-dynamodb';
import { leasePrefix, tables, type TableShape } from '../lambdas/resources.ts';

/** @param existing names of the tables that are there */
export async function createMissing(
  client: DynamoDBClient,
  tables: Readonly<Record<string, TableShape>>,
  existing: readonly string[],
): Promise<void> {
  await Promise.all(
    Object.entries(tables).map(async ([name, shape]) => {
      if (!existing.includes(name)) await create(client, name, shape);
      if (shape.ttl !== undefined) await enableExpiry(client, name, shape.ttl);
    }),
  );
}

/** Ends what processes had in flight that ended without a word: after a start nothing is. */
export async function endLeases(client: DynamoDBClient, table: string): Promise<void> {
  const { partitionKey, sortKey } = tables.usage;
  const pages = paginateScan(
    { client },
    {
      TableName: table,
      FilterExpression: 'begins_with(#id, :lease)',
      ExpressionAttributeNames: { '#id': sortKey },
      ExpressionAttributeValues: { ':lease': { S: leasePrefix } },
    },
  );
  for await (const { Items = [] } of pages) {
    for (const { [partitionKey]: owner, [sortKey]: id } of Items) {
      if (owner === undefined || id === undefined) continue;
      await client.send(
        new DeleteItemCommand({ TableName: table, Key: { [partitionKey]: owner, [sortKey]: id } }),
      );
    }
  }
}

async function create(client: DynamoDBClient, name: string, shape: TableShape): Promise<void> {
  const indexes = shape.indexes.map((index) => ({
    IndexName: index.name,
    KeySchema: keys(index.partitionKey, index.sortKey),
    Projection: { ProjectionType: 'ALL' as const },
  }));
  await client.send(
    new CreateTableCommand({
      TableName: name,
      BillingMode: 'PAY_PER_REQUEST',
      KeySchema: keys(shape.partitionKey, shape.sortKey),
      AttributeDefinitions: attributes(shape),
      ...(indexes.length > 0 && { GlobalSecondaryIndexes: indexes }),
    }),
  );
  await waitUntilTableExists({ client, maxWaitTime: 60, minDelay: 1 }, { TableName: name });
}

/** Asked for at every start: a stage may have died between making a table and this. */
async function enableExpiry(client: DynamoDBClient, name: string, attribute: string): Promise<void> {
  const { TimeToLiveDescription } = await client.send(new DescribeTimeToLiveCommand({ TableName: name }));
  if (TimeToLiveDescription?.AttributeName === attribute) return;
  await client.send(
    new UpdateTimeToLiveCommand({
      TableName: name,
      TimeToLiveSpecification: { Enabled: true, AttributeName: attribute },
    }),
  );
}

function keys(partitionKey: string, sortKey: string | undefined): KeySchemaElement[] {
  const partition: KeySchemaElement = { AttributeName: partitionKey, KeyType: 'HASH' };
  return sortKey === undefined ? [partition] : [partition, { AttributeName: sortKey, KeyType: 'RANGE' }];
}

/** Sort keys of indexes are numbers, all other keys strings. */
function attributes({ partitionKey, sortKey, indexes }: TableShape): AttributeDefinition[] {
  const strings = [partitionKey, sortKey, ...indexes.map((index) => index.partitionKey)];
  const numbers = indexes.map((index) => index.sortKey);
  return [
    ...[...new Set(strings)]
      .filter((name) => name !== undefined)
      .map((AttributeName) => ({ AttributeName, AttributeType: 'S' as const })),
    ...[...new Set(numbers)].map((AttributeName) => ({ AttributeName, AttributeType: 'N' as const })),
  ];
}
