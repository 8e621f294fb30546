/** The writes of DynamoDB that can be made in one transaction with others: those whose answer has no content. */
import * as z from 'zod/mini';
import { tables, type TableName, type TableShape } from '../../lambdas/aws/resources.ts';
import { toJson, type ClientCall } from './connection.ts';

/** A write as a part of a transaction. */
export interface JoinableWrite {
  /** The actions of `TransactWriteItems`, each as JSON. */
  readonly actions: readonly string[];
  /** The items that it writes. A transaction may have each once. */
  readonly items: readonly string[];
  /** The partitions of these items. */
  readonly partitions: readonly string[];
  /** The body of the answer after success; or the input of the read that gives the row which is in the answer. */
  readonly answer: string | { readonly get: string };
  /** Whether it may wait for others, because nobody waits for it, or seldom. */
  readonly canWait?: boolean;
}

const operations = new Set(['PutItem', 'UpdateItem', 'DeleteItem', 'BatchWriteItem', 'TransactWriteItems']);

export const isWrite = ({ operation }: ClientCall): boolean => operations.has(operation);

/**
 * Attributes by their names, each as `{"S":"…"}`. The values are neither checked nor copied: every write and every read of a
 * message comes through here.
 */
type Item = Readonly<Record<string, unknown>>;
const item = z.custom<Item>((value) => typeof value === 'object' && value !== null);

/** The parameters that an action of a transaction may have. A write with more, such as one that asks for the old row, is made alone. */
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

/** The parameters that are read here. Others are known by their names. */
const written = z.object({
  TableName: z.string(),
  Item: z.optional(item),
  Key: z.optional(item),
  ReturnValues: z.optional(z.string()),
});
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

/** @returns undefined when the call cannot be a part of a transaction */
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
  if (data === undefined) return undefined;
  const { TableName, Item, Key, ReturnValues } = data;
  const isAsked = ReturnValues === 'ALL_NEW' && Key !== undefined;
  const names = Object.entries(input).flatMap(([name, value]) => (value === undefined ? [] : [name]));
  if (!names.every((name) => may.has(name) || (isAsked && name === 'ReturnValues'))) return undefined;
  const place = placeOf(TableName, Item ?? Key ?? {});
  return (
    place && {
      // The operation's input is the input of the action, which answers nothing.
      actions: [`{"${kind}":${isAsked ? toJson({ ...input, ReturnValues: undefined }) : body}}`],
      items: [place.item],
      partitions: [place.partition],
      answer: isAsked ? { get: toJson({ TableName, Key, ConsistentRead: true }) } : '{}',
      canWait: Item === undefined ? isCount(TableName, Key ?? {}) : isLastRecord(Item),
    }
  );
}

/** Attributes of a record that others wait for: the next message of a queue or of a flow-control key, and callbacks. */
const awaited = ['queueName', 'flowControlKey', 'callbacksByOutcome'];
const delivered = z.object({ state: z.object({ S: z.literal('DELIVERED') }) });

/** Whether a row records the delivery of a message, and nothing waits for the record. */
const isLastRecord = (row: Item): boolean =>
  'attempt' in row && !awaited.some((name) => name in row) && delivered.safeParse(row).success;

const dayOfUsage = z.object({ id: z.object({ S: z.string().check(z.startsWith('day#')) }) });

/** Whether a row counts what an account uses on a day: one of many publishes adds to it, after its message is stored. */
const isCount = (table: string, key: Item): boolean => table === usage && dayOfUsage.safeParse(key).success;
const usage: TableName = 'usage';

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
