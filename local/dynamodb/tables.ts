/** Creates the tables of the resource table that are missing, with their indexes and their expiry. */
import {
  CreateTableCommand,
  DescribeTimeToLiveCommand,
  paginateScan,
  UpdateItemCommand,
  UpdateTimeToLiveCommand,
  waitUntilTableExists,
  type AttributeDefinition,
  type DynamoDBClient,
  type KeySchemaElement,
  type Projection,
} from '@aws-sdk/client-dynamodb';
import { processLeases, tables, type TableShape } from '../../lambdas/aws/resources.ts';
import { rowsPerRead } from './rowLimit.ts';

/** @param existing names of the tables that exist */
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

/** Ends the slots that killed processes hold in lanes. The slots of attempts stay: their jobs come back. */
export async function endProcessLeases(client: DynamoDBClient, table: string): Promise<void> {
  const { partitionKey, sortKey } = tables.lanes;
  const names = { '#processes': processLeases };
  const pages = paginateScan(
    { client, pageSize: rowsPerRead },
    {
      TableName: table,
      FilterExpression: 'attribute_exists(#processes)',
      ExpressionAttributeNames: names,
    },
  );
  for await (const { Items = [] } of pages) {
    for (const { [partitionKey]: lane, [sortKey]: part } of Items) {
      if (lane === undefined || part === undefined) continue;
      await client.send(
        new UpdateItemCommand({
          TableName: table,
          Key: { [partitionKey]: lane, [sortKey]: part },
          UpdateExpression: 'REMOVE #processes',
          ExpressionAttributeNames: names,
        }),
      );
    }
  }
}

async function create(client: DynamoDBClient, name: string, shape: TableShape): Promise<void> {
  const indexes = shape.indexes.map((index) => ({
    IndexName: index.name,
    KeySchema: keys(index.partitionKey, index.sortKey),
    Projection: projectionOf(index.includes),
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

/** Runs at every start, because a stage may have died after it created the table and before this. */
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

function projectionOf(includes: readonly string[] | undefined): Projection {
  if (includes === undefined) return { ProjectionType: 'ALL' };
  if (includes.length === 0) return { ProjectionType: 'KEYS_ONLY' };
  return { ProjectionType: 'INCLUDE', NonKeyAttributes: [...includes] };
}

/** The key attributes. They are strings, except the sort keys of indexes that sort by a number. */
function attributes({ partitionKey, sortKey, indexes }: TableShape): AttributeDefinition[] {
  const sortKeys = (sortsBy: 'number' | 'text'): readonly string[] =>
    indexes.filter((index) => index.sortsBy === sortsBy).map((index) => index.sortKey);
  const strings = [partitionKey, sortKey, ...indexes.map((index) => index.partitionKey), ...sortKeys('text')];
  const numbers = sortKeys('number');
  return [
    ...[...new Set(strings)]
      .filter((name) => name !== undefined)
      .map((AttributeName) => ({ AttributeName, AttributeType: 'S' as const })),
    ...[...new Set(numbers)].map((AttributeName) => ({ AttributeName, AttributeType: 'N' as const })),
  ];
}
