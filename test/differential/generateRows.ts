/** Generated calls of several tables and indexes: rows with unusual keys, batches, pages, and invalid calls. */
import fc, { type Arbitrary } from 'fast-check';
import { tables, type TableName, type TableShape } from '../../lambdas/aws/resources.ts';
import type { Item, Value } from '../../local/dynamodb/values.ts';
import type { Call } from './generate.ts';

/** A read of all pages, each from the previous page's cursor. */
export interface Walk extends Call {
  /** A write after the first page. */
  readonly between?: Call;
  readonly isWalk: true;
}

export type Step = Call | Walk;

const used = ['messages', 'dlq', 'lanes', 'deduplication'] as const satisfies readonly TableName[];
const shapes: Readonly<Record<(typeof used)[number], TableShape>> = tables;

/** Few keys, so that calls find rows, but of every kind: other Unicode planes, bytes 0, and keys longer than the store's. */
const partitions = [
  'p',
  'q',
  'p\0',
  '😀',
  'x'.repeat(701),
  `${'x'.repeat(700)}y`,
  'é'.repeat(1_024),
] as const;
const sorts = ['a', 'ab', 'a\0', 'a\0b', 'a\u0001', 'b', 'é', 'Ｚ', '😀', 's'.repeat(1_024)] as const;
const sortNumbers = [
  '0',
  '1',
  '-1',
  '1.5',
  '10',
  '9',
  '100',
  '-10',
  '-9',
  '-0.001',
  '0.001',
  '1E-130',
  '-1E-130',
  '9.9999999999999999999999999999999999999E+125',
  '-9.9999999999999999999999999999999999999E+125',
  '12345678901234567890',
  '12345678901234567891',
  '1712345678901',
] as const;

const some = <Member>(...members: readonly Member[]): Arbitrary<Member> => fc.constantFrom(...members);
const text = (value: string): Value => ({ S: value });
/** Usually the first, rarely the second. */
const mostly = <Usual, Rare>(usual: Arbitrary<Usual>, rare: Arbitrary<Rare>): Arbitrary<Usual | Rare> =>
  fc.oneof({ weight: 25, arbitrary: usual }, { weight: 1, arbitrary: rare });

const partition = fc.oneof({ weight: 3, arbitrary: some('p', 'q') }, some(...partitions)).map(text);
const sort = some(...sorts).map(text);
const wrongKey: Arbitrary<Value> = some<Value>(
  { S: '' },
  { N: '1' },
  { NULL: true },
  { S: 'x'.repeat(1_025) },
  { S: 'x'.repeat(2_049) },
  { B: new Uint8Array([1]) },
);

const number = some(...sortNumbers).map((N): Value => ({ N }));

const names = ['body', '__proto__', 'constructor', 'toString', 'B', 'S', 'dlqExpiresAt'] as const;
const leaf: Arbitrary<Value> = fc.oneof(
  some('', 'a', 'ab\0', '😀', 'x'.repeat(1_100), 'x'.repeat(5_000)).map(text),
  number,
  fc.boolean().map((BOOL) => ({ BOOL })),
  fc.constant<Value>({ NULL: true }),
  fc.uint8Array({ maxLength: 4 }).map((B) => ({ B: Uint8Array.from(B) })),
  fc.uniqueArray(some('a', 'b', 'B'), { minLength: 1 }).map((SS) => ({ SS })),
  fc.uniqueArray(some('1', '-2', '1.5'), { minLength: 1 }).map((NS) => ({ NS })),
  fc
    .uniqueArray(fc.nat(3), { minLength: 1, maxLength: 3 })
    .map((bytes) => ({ BS: bytes.map((byte) => Uint8Array.of(byte)) })),
);
const itemOf = (value: Arbitrary<Value>): Arbitrary<Item> =>
  fc
    .uniqueArray(fc.tuple(some(...names), value), { maxLength: 3, selector: ([name]) => name })
    .map((entries) => Object.fromEntries(entries));
const value = fc.letrec<{ value: Value }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    leaf,
    fc.array(tie('value'), { maxLength: 2 }).map((L) => ({ L })),
    itemOf(tie('value')).map((M) => ({ M })),
  ),
})).value;
const others = itemOf(value);

type Name = (typeof used)[number];
const tableName = some(...used);

const keyOf = (name: Name): Arbitrary<Item> => {
  const { partitionKey, sortKey } = shapes[name];
  const parts = fc.record({
    [partitionKey]: mostly(partition, wrongKey),
    ...(sortKey !== undefined && { [sortKey]: mostly(sort, wrongKey) }),
  });
  return mostly(
    parts,
    some<Item>({}, { [partitionKey]: text('p') }, { [partitionKey]: text('p'), other: text('p') }),
  );
};

/** The attributes that put a row into an index. */
const indexed = (name: Name): Arbitrary<Item> => {
  const [index] = shapes[name].indexes;
  if (index === undefined) return fc.constant({});
  const key = index.sortsBy === 'number' ? number : sort;
  const there = mostly(key, some<Value>({ S: 'a' }, { N: '1' }, { S: '' }, { NULL: true })).map((one) => ({
    [index.sortKey]: one,
  }));
  const isOther = index.partitionKey !== shapes[name].partitionKey;
  const owner = isOther ? partition.map((one) => ({ [index.partitionKey]: one })) : fc.constant({});
  return fc
    .tuple(fc.option(there, { freq: 4 }), fc.option(owner, { freq: 8 }))
    .map(([one, other]): Item => ({ ...one, ...other }));
};

const rowOf = (name: Name): Arbitrary<Item> =>
  fc
    .tuple(others, indexed(name), keyOf(name))
    .map(([rest, index, key]): Item => ({ ...rest, ...index, ...key }));

const asked = fc.option(some('NONE', 'TOTAL', 'INDEXES'), { nil: undefined });
const onFailure = fc.option(some('NONE', 'ALL_OLD'), { nil: undefined });

const conditions = fc.oneof(
  { weight: 3, arbitrary: fc.constant({}) },
  some('attribute_exists(body)', 'attribute_not_exists(body)', 'attribute_not_exists(#toString)').map(
    (ConditionExpression) => ({
      ConditionExpression,
      ...(ConditionExpression.includes('#') && { ExpressionAttributeNames: { '#toString': 'toString' } }),
    }),
  ),
);

const put: Arbitrary<Call> = tableName.chain((TableName) =>
  fc
    .tuple(rowOf(TableName), conditions, asked, onFailure, some('NONE', 'ALL_OLD'))
    .map(([Item, condition, ReturnConsumedCapacity, ReturnValuesOnConditionCheckFailure, ReturnValues]) => ({
      operation: 'PutItem',
      input: {
        TableName,
        Item,
        ...condition,
        ReturnValues,
        ReturnConsumedCapacity,
        ReturnValuesOnConditionCheckFailure,
      },
    })),
);
const remove: Arbitrary<Call> = tableName.chain((TableName) =>
  fc
    .tuple(keyOf(TableName), conditions, asked, onFailure, some('NONE', 'ALL_OLD'))
    .map(([Key, condition, ReturnConsumedCapacity, ReturnValuesOnConditionCheckFailure, ReturnValues]) => ({
      operation: 'DeleteItem',
      input: {
        TableName,
        Key,
        ...condition,
        ReturnValues,
        ReturnConsumedCapacity,
        ReturnValuesOnConditionCheckFailure,
      },
    })),
);
/** Updates that move rows into, within and out of indexes. */
const update: Arbitrary<Call> = tableName.chain((TableName) => {
  const [index] = shapes[TableName].indexes;
  const attribute = index?.sortKey ?? 'body';
  const key = index?.sortsBy === 'text' ? sort : number;
  const change = fc.oneof(
    {
      weight: 4,
      arbitrary: mostly(key, leaf).map((one) => ({
        UpdateExpression: 'SET #a = :v, #b = :v',
        ExpressionAttributeNames: { '#a': attribute, '#b': 'constructor' },
        ExpressionAttributeValues: { ':v': one },
      })),
    },
    some('REMOVE #a', 'REMOVE #a, #b', 'REMOVE #b.#a').map((UpdateExpression) => ({
      UpdateExpression,
      ExpressionAttributeNames: {
        '#a': attribute,
        ...(UpdateExpression.includes('#b') && { '#b': 'constructor' }),
      },
    })),
    number.map((one) => ({
      UpdateExpression: 'ADD #a :n',
      ExpressionAttributeNames: { '#a': 'counter' },
      ExpressionAttributeValues: { ':n': one },
    })),
    fc.constant({}),
  );
  return fc
    .tuple(keyOf(TableName), change, asked, some('NONE', 'ALL_OLD', 'ALL_NEW', 'UPDATED_OLD', 'UPDATED_NEW'))
    .map(([Key, its, ReturnConsumedCapacity, ReturnValues]) => ({
      operation: 'UpdateItem',
      input: { TableName, Key, ...its, ReturnConsumedCapacity, ReturnValues },
    }));
});

const batchWrite: Arbitrary<Call> = fc
  .tuple(
    fc.uniqueArray(tableName, { minLength: 1, maxLength: 2 }),
    asked,
    mostly(fc.constant(4), some(0, 26)),
  )
  .chain(([chosen, ReturnConsumedCapacity, most]) =>
    fc
      .tuple(
        ...chosen.map((name) =>
          fc.array(
            fc.oneof(
              { weight: 3, arbitrary: rowOf(name).map((Item) => ({ PutRequest: { Item } })) },
              keyOf(name).map((Key) => ({ DeleteRequest: { Key } })),
            ),
            { minLength: Math.min(1, most), maxLength: most, size: 'max' },
          ),
        ),
      )
      .map((requests) => ({
        operation: 'BatchWriteItem',
        input: {
          RequestItems: Object.fromEntries(chosen.map((name, at) => [name, requests[at]])),
          ReturnConsumedCapacity,
        },
      })),
  );
const projections = fc.option(
  some('body', '#n', 'body, #n').map((ProjectionExpression) => ({
    ProjectionExpression,
    ...(ProjectionExpression.includes('#') && { ExpressionAttributeNames: { '#n': 'constructor' } }),
  })),
  { freq: 1, nil: {} },
);
const consistency = fc.option(fc.boolean(), { nil: undefined, freq: 1 });
const batchGet: Arbitrary<Call> = fc
  .tuple(fc.uniqueArray(tableName, { minLength: 1, maxLength: 2 }), asked)
  .chain(([chosen, ReturnConsumedCapacity]) =>
    fc
      .tuple(
        ...chosen.map((name) =>
          fc
            .tuple(
              mostly(
                fc.uniqueArray(keyOf(name), {
                  minLength: 1,
                  maxLength: 5,
                  selector: (key) => JSON.stringify(key),
                }),
                fc.array(keyOf(name), { maxLength: 3 }),
              ),
              projections,
              consistency,
            )
            .map(([Keys, its, ConsistentRead]) => ({ Keys, ...its, ConsistentRead })),
        ),
      )
      .map((requests) => ({
        operation: 'BatchGetItem',
        input: {
          RequestItems: Object.fromEntries(chosen.map((name, at) => [name, requests[at]])),
          ReturnConsumedCapacity,
        },
      })),
  );
const get: Arbitrary<Call> = tableName.chain((TableName) =>
  fc
    .tuple(keyOf(TableName), projections, consistency, asked)
    .map(([Key, its, ConsistentRead, ReturnConsumedCapacity]) => ({
      operation: 'GetItem',
      input: { TableName, Key, ...its, ConsistentRead, ReturnConsumedCapacity },
    })),
);

export const write: Arbitrary<Call> = fc.oneof(
  { weight: 4, arbitrary: put },
  { weight: 3, arbitrary: update },
  { weight: 1, arbitrary: remove },
  { weight: 2, arbitrary: batchWrite },
);
export const firstWrites = fc.array(put, { minLength: 4, maxLength: 12 });
export const singleReads: Arbitrary<Call> = fc.oneof(get, batchGet);
export { asked, consistency, keyOf, mostly, number, partition, put, shapes, some, sort, tableName, update };
