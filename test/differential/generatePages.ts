/** Generated reads of pages: Queries and Scans of tables and indexes, invalid cursors, and sequences of all calls. */
import fc, { type Arbitrary } from 'fast-check';
import type { Value } from '../../local/dynamodb/values.ts';
import {
  asked,
  consistency,
  firstWrites,
  keyOf,
  mostly,
  number,
  partition,
  put,
  shapes,
  singleReads,
  some,
  sort,
  tableName,
  update,
  write,
  type Step,
  type Walk,
} from './generateRows.ts';

const filters = fc.option(some('attribute_exists(body)', 'size(body) > :none', 'begins_with(body, :text)'), {
  freq: 1,
  nil: undefined,
});
const selections = fc.option(
  some('COUNT', 'ALL_ATTRIBUTES', 'ALL_PROJECTED_ATTRIBUTES', 'SPECIFIC_ATTRIBUTES'),
  { freq: 1, nil: undefined },
);
const projections = fc.option(some('body', 'body, dlqExpiresAt'), { freq: 1, nil: undefined });
const limits = fc.option(fc.integer({ min: 1, max: 4 }), { freq: 3, nil: undefined });

const filterValues = { ':none': { N: '0' }, ':text': { S: 'a' } };

/** The values that a call's expressions name. */
function valuesIn(
  expressions: readonly (string | undefined)[],
  all: Readonly<Record<string, Value>>,
): object {
  const named = Object.entries(all).filter(([name]) =>
    expressions.some((text) => text?.split(/[ (),]/).includes(name)),
  );
  return named.length === 0 ? {} : { ExpressionAttributeValues: Object.fromEntries(named) };
}

const source = tableName.chain((TableName) => {
  const [index] = shapes[TableName].indexes;
  return fc.boolean().map((isIndex) => ({ TableName, index: isIndex ? index : undefined }));
});

const common = fc.record({
  Limit: limits,
  ConsistentRead: mostly(fc.constant(undefined), consistency),
  ReturnConsumedCapacity: asked,
  Select: selections,
  FilterExpression: filters,
  ProjectionExpression: projections,
});

const sortConditions = some(
  '#s = :a',
  '#s < :a',
  '#s <= :a',
  '#s > :a',
  '#s >= :a',
  '#s BETWEEN :a AND :b',
  'begins_with(#s, :a)',
);

const query: Arbitrary<Walk> = source.chain(({ TableName, index }) => {
  const { partitionKey, sortKey } = index ?? shapes[TableName];
  const value = index?.sortsBy === 'number' ? number : sort;
  const condition = sortKey === undefined ? fc.constant('') : fc.option(sortConditions, { nil: '', freq: 3 });
  return fc
    .tuple(
      partition,
      condition,
      mostly(value, some<Value>({ S: '' }, { BOOL: true }, { N: '1' })),
      value,
      common,
      fc.boolean(),
      fc.option(index === undefined ? fc.oneof(put, update) : fc.constant(undefined), { nil: undefined }),
    )
    .map(([owner, its, a, b, rest, ScanIndexForward, between]): Walk => {
      const KeyConditionExpression = its === '' ? '#p = :owner' : `#p = :owner AND ${its}`;
      return {
        operation: 'Query',
        isWalk: true,
        ...(between !== undefined && { between }),
        input: {
          TableName,
          ...(index !== undefined && { IndexName: index.name }),
          ...rest,
          ScanIndexForward,
          KeyConditionExpression,
          ExpressionAttributeNames: { '#p': partitionKey, ...(its !== '' && { '#s': sortKey }) },
          ...valuesIn([KeyConditionExpression, rest.FilterExpression], {
            ':owner': owner,
            ':a': a,
            ':b': b,
            ...filterValues,
          }),
        },
      };
    });
});
const scan: Arbitrary<Walk> = fc.tuple(source, common).map(([{ TableName, index }, rest]) => ({
  operation: 'Scan',
  isWalk: true,
  input: {
    TableName,
    ...(index !== undefined && { IndexName: index.name }),
    ...rest,
    ...valuesIn([rest.FilterExpression], filterValues),
  },
}));

/** Reads from cursors that may belong to no row, or to another or no partition. */
const fromCursor: Arbitrary<Step> = fc.tuple(query, fc.boolean()).chain(([walk, isScan]) => {
  const { TableName, IndexName } = walk.input;
  const name = [...Object.keys(shapes)].find((one) => one === TableName);
  return fc
    .tuple(
      name === 'messages' || name === 'dlq' || name === 'lanes' ? keyOf(name) : keyOf('deduplication'),
      fc.option(fc.tuple(number, sort, partition), { nil: undefined, freq: 4 }),
    )
    .map(([key, more]): Step => {
      const [index] =
        name === undefined
          ? []
          : Object.entries(shapes).flatMap(([one, shape]) => (one === name ? shape.indexes : []));
      const its =
        index === undefined || IndexName === undefined || more === undefined
          ? {}
          : {
              [index.sortKey]: index.sortsBy === 'number' ? more[0] : more[1],
              ...(!Object.hasOwn(key, index.partitionKey) && { [index.partitionKey]: more[2] }),
            };
      const { KeyConditionExpression, ExpressionAttributeNames, ...input } = walk.input;
      const ExclusiveStartKey = { ...key, ...its };
      if (!isScan || input['FilterExpression'] !== undefined) {
        return {
          operation: 'Query',
          input: { ...input, KeyConditionExpression, ExpressionAttributeNames, ExclusiveStartKey },
        };
      }
      const { ScanIndexForward: _forward, ExpressionAttributeValues: _values, ...rest } = input;
      return { operation: 'Scan', input: { ...rest, Limit: undefined, ExclusiveStartKey } };
    });
});

const unknown: Arbitrary<Step> = some(
  { operation: 'GetItem', input: { TableName: 'absent', Key: { id: { S: 'a' } } } },
  { operation: 'PutItem', input: { TableName: 'absent', Item: { id: { S: 'a' } } } },
  { operation: 'Scan', input: { TableName: 'absent' } },
  { operation: 'Scan', input: { TableName: 'messages', IndexName: 'absent' } },
  { operation: 'BatchGetItem', input: { RequestItems: {} } },
  { operation: 'BatchWriteItem', input: { RequestItems: {} } },
  { operation: 'BatchGetItem', input: { RequestItems: { absent: { Keys: [{ id: { S: 'a' } }] } } } },
);

/** Writes come first, so that there are rows to read. */
export const steps: Arbitrary<readonly Step[]> = fc
  .tuple(
    firstWrites,
    fc.array(
      fc.oneof(
        { weight: 10, arbitrary: write },
        { weight: 8, arbitrary: query },
        { weight: 3, arbitrary: scan },
        { weight: 3, arbitrary: singleReads },
        { weight: 2, arbitrary: fromCursor },
        { weight: 1, arbitrary: unknown },
      ),
      { minLength: 6, maxLength: 14 },
    ),
  )
  .map(([first, then]) => [...first, ...then]);
