/** Calls with rows near the largest size, and with more rows than a page or batch has. */
import type { Item } from '../../local/dynamodb/values.ts';
import type { Call } from './generate.ts';
import type { Step } from './generateRows.ts';

const largestItem = 409_600;
const ofRow = (id: string, bytes: number): Item => {
  const item = { shard: { S: 'p' }, id: { S: id }, recordedAt: { N: '1' } };
  const names = 'shard'.length + 1 + 'id'.length + id.length + 'recordedAt'.length + 2 + 'body'.length;
  return { ...item, body: { S: 'x'.repeat(bytes - names) } };
};
const put = (id: string, bytes: number): Call => ({
  operation: 'PutItem',
  input: { TableName: 'messages', Item: ofRow(id, bytes), ReturnConsumedCapacity: 'TOTAL' },
});
const key = (id: string): Item => ({ shard: { S: 'p' }, id: { S: id } });

const ofPartition = {
  TableName: 'messages',
  KeyConditionExpression: '#p = :p',
  ExpressionAttributeNames: { '#p': 'shard' },
  ExpressionAttributeValues: { ':p': { S: 'p' } },
  ReturnConsumedCapacity: 'TOTAL',
};
const walk = (operation: 'Query' | 'Scan', input: object): Step => ({
  operation,
  isWalk: true,
  input: { ...input },
});

const ids = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];
const numbers = (count: number): readonly number[] => Array.from({ length: count }, (_, at) => at);

/** Each begins with empty tables. */
export const largeRows: readonly (readonly Step[])[] = [
  [
    put('largest', largestItem),
    put('larger', largestItem + 1),
    {
      operation: 'UpdateItem',
      input: {
        TableName: 'messages',
        Key: key('largest'),
        UpdateExpression: 'SET more = :v',
        ExpressionAttributeValues: { ':v': { S: '' } },
      },
    },
    {
      operation: 'DeleteItem',
      input: { TableName: 'messages', Key: key('largest'), ReturnConsumedCapacity: 'TOTAL' },
    },
  ],
  [
    ...ids.map((id) => put(id, 300_000)),
    walk('Query', ofPartition),
    walk('Query', { ...ofPartition, ScanIndexForward: false, Limit: 3 }),
    walk('Query', { ...ofPartition, ProjectionExpression: 'id' }),
    walk('Query', { ...ofPartition, IndexName: 'log' }),
    walk('Scan', { TableName: 'messages' }),
  ],
  [
    // Four rows of 262,144 bytes fill a page exactly.
    ...ids.map((id) => put(id, 262_144)),
    walk('Query', ofPartition),
  ],
  [25, 26].map((count) => ({
    operation: 'BatchWriteItem',
    input: {
      RequestItems: {
        deduplication: numbers(count).map((at) => ({ PutRequest: { Item: { id: { S: `${at}` } } } })),
      },
    },
  })),
  [100, 101].map((count) => ({
    operation: 'BatchGetItem',
    input: {
      RequestItems: { deduplication: { Keys: numbers(count).map((at) => ({ id: { S: `${at}` } })) } },
    },
  })),
  [
    ...ids.map((id) => put(id, 300_000)),
    {
      operation: 'BatchGetItem',
      input: { RequestItems: { messages: { Keys: ids.map(key), ProjectionExpression: 'id' } } },
    },
  ],
];
