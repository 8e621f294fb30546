/** The service's tables for another DynamoDB, made from their shapes. */
import { tables, type TableShape } from '../../lambdas/aws/resources.ts';

/** `CreateTable` inputs by table. */
export const creations: ReadonlyMap<string, object> = new Map(
  Object.entries<TableShape>(tables).map(([name, shape]) => [name, creationOf(name, shape)]),
);

function creationOf(name: string, shape: TableShape): object {
  const indexes = shape.indexes.map((index) => ({
    IndexName: index.name,
    KeySchema: keys(index.partitionKey, index.sortKey),
    Projection: projectionOf(index.includes),
  }));
  return {
    TableName: name,
    BillingMode: 'PAY_PER_REQUEST',
    KeySchema: keys(shape.partitionKey, shape.sortKey),
    AttributeDefinitions: attributes(shape),
    ...(indexes.length > 0 && { GlobalSecondaryIndexes: indexes }),
  };
}

function keys(partitionKey: string, sortKey: string | undefined): object[] {
  const partition = { AttributeName: partitionKey, KeyType: 'HASH' };
  return sortKey === undefined ? [partition] : [partition, { AttributeName: sortKey, KeyType: 'RANGE' }];
}

function projectionOf(includes: readonly string[] | undefined): object {
  if (includes === undefined) return { ProjectionType: 'ALL' };
  if (includes.length === 0) return { ProjectionType: 'KEYS_ONLY' };
  return { ProjectionType: 'INCLUDE', NonKeyAttributes: includes };
}

/** The key attributes: strings, except numeric sort keys of indexes. */
function attributes({ partitionKey, sortKey, indexes }: TableShape): object[] {
  const types = new Map<string, 'S' | 'N'>([[partitionKey, 'S']]);
  if (sortKey !== undefined) types.set(sortKey, 'S');
  for (const index of indexes) {
    types.set(index.partitionKey, 'S');
    types.set(index.sortKey, index.sortsBy === 'number' ? 'N' : 'S');
  }
  return [...types].map(([AttributeName, AttributeType]) => ({ AttributeName, AttributeType }));
}
