/** The writes of DynamoDB that can be made in one transaction with others: those whose answer has no content. */
import * as z from 'zod/mini';
import { tables, type TableShape } from '../../lambdas/aws/resources.ts';
import { toJson, type ClientCall } from './connection.ts';

/** A write as a part of a transaction. */
export interface JoinableWrite {
  /** The actions of `TransactWriteItems`, each as JSON. */
  readonly actions: readonly string[];
  /** The items that it writes. A transaction may have each once. */
  readonly items: readonly string[];
  /** The partitions of these items. */
  readonly partitions: readonly string[];
  /** The body of the answer after success. */
  readonly answer: string;
}

/**
 * Attributes by their names, each as `{"S":"…"}`. The values are neither checked nor copied: every write and every read of a
 * message comes through here.
 */
type Item = Readonly<Record<string, unknown>>;
const item = z.custom<Item>((value) => typeof value === 'object' && value !== null);

/** The parameters that an action of a transaction may have. A write that asks for more, such as the old row, is made alone. */
const common = [
  'TableName',
  'ConditionExpression',
  'ExpressionAttributeNames',
  'ExpressionAttributeValues',
  'ReturnValuesOnConditionCheckFailure',
];
const single = {
  PutItem: { kind: 'Put', may: new Set([...common, 'Item']) },
  UpdateItem: { kind: 'Update', may: new Set([...common, 'Key', 'UpdateExpression']) },
  DeleteItem: { kind: 'Delete', may: new Set([...common, 'Key']) },
} as const;

const isSingle = (operation: string): operation is keyof typeof single => operation in single;

/** The parameters that every write has. Others are read by their names where they are used. */
const written = z.object({ TableName: z.string(), Item: z.optional(item), Key: z.optional(item) });
const batch = z.strictObject({
  RequestItems: z.record(
    z.string(),
    z.array(
      z.union([
        z.strictObject({ PutRequest: z.strictObject({ Item: item }) }),
        z.strictObject({ DeleteRequest: z.strictObject({ Key: item }) }),
      ]),
    ),
  ),
});

/** @returns undefined when the call is no write, or cannot be a part of a transaction */
export function joinableWrite(call: ClientCall): JoinableWrite | undefined {
  const { operation, input } = call;
  if (isSingle(operation)) return joinableAction(single[operation], call);
  if (operation !== 'BatchWriteItem') return undefined;
  const { data } = batch.safeParse(input);
  return data && joinableActions(data.RequestItems);
}

function joinableAction(
  { kind, may }: { readonly kind: string; readonly may: ReadonlySet<string> },
  { input, body }: ClientCall,
): JoinableWrite | undefined {
  const { data } = written.safeParse(input);
  const names = Object.entries(input).flatMap(([name, value]) => (value === undefined ? [] : [name]));
  if (data === undefined || !names.every((name) => may.has(name))) return undefined;
  const place = placeOf(data.TableName, data.Item ?? data.Key ?? {});
  return (
    place && {
      // The operation's input is the input of the action.
      actions: [`{"${kind}":${body}}`],
      items: [place.item],
      partitions: [place.partition],
      answer: '{}',
    }
  );
}

interface Place {
  readonly item: string;
  readonly partition: string;
}

function joinableActions(requests: z.infer<typeof batch>['RequestItems']): JoinableWrite | undefined {
  const actions: string[] = [];
  const places: Place[] = [];
  for (const [TableName, ofTable] of Object.entries(requests)) {
    for (const request of ofTable) {
      const isPut = 'PutRequest' in request;
      const values = isPut ? request.PutRequest.Item : request.DeleteRequest.Key;
      const place = placeOf(TableName, values);
      if (place === undefined) return undefined;
      places.push(place);
      actions.push(
        toJson(isPut ? { Put: { TableName, Item: values } } : { Delete: { TableName, Key: values } }),
      );
    }
  }
  return {
    actions,
    items: places.map((place) => place.item),
    partitions: places.map(({ partition }) => partition),
    answer: '{"UnprocessedItems":{}}',
  };
}

const shapes = new Map<string, TableShape>(Object.entries(tables));

/** @returns undefined without a key, or for a table that is not the service's: DynamoDB answers what is wrong with it */
function placeOf(table: string, values: Item): Place | undefined {
  const shape = shapes.get(table);
  if (shape === undefined) return undefined;
  const partitionValue = values[shape.partitionKey];
  const sortValue = shape.sortKey === undefined ? {} : values[shape.sortKey];
  if (partitionValue === undefined || sortValue === undefined) return undefined;
  const partition = partitionName(table, partitionValue);
  return { partition, item: `${partition} ${JSON.stringify(sortValue)}` };
}

/** @param value of the partition key, as JSON has it: `{"S":"…"}` */
const partitionName = (table: string, value: unknown): string => `${table} ${JSON.stringify(value)}`;

const get = z.object({ TableName: z.string(), ConsistentRead: z.literal(true), Key: item });
const query = z.object({
  TableName: z.string(),
  ConsistentRead: z.literal(true),
  ExpressionAttributeValues: item,
});

/** The partitions that a strongly consistent call may read. */
export function partitionsRead({ operation, input }: ClientCall): readonly string[] {
  const isGet = operation === 'GetItem';
  if (!isGet && operation !== 'Query') return [];
  const read = isGet ? get.safeParse(input).data : query.safeParse(input).data;
  if (read === undefined) return [];
  const values = 'Key' in read ? read.Key : read.ExpressionAttributeValues;
  return Object.values(values).map((one) => partitionName(read.TableName, one));
}
