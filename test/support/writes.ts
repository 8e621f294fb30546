/** Watches a client's writes to DynamoDB, which are billed per kilobyte. */
import type { AttributeValue, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { itemBytes } from './itemSize.ts';

type Item = Readonly<Record<string, AttributeValue>>;
interface Write {
  readonly table: string;
  readonly item: Item;
}

const isPut = (input: object): input is { TableName: string; Item: Item } => 'Item' in input;
const isBatch = (
  input: object,
): input is { RequestItems: Readonly<Record<string, readonly { PutRequest?: { Item: Item } }[]>> } =>
  // A read of several rows has no such lists.
  'RequestItems' in input && Object.values(input.RequestItems ?? {}).every(Array.isArray);

function writesOf(input: object): readonly Write[] {
  if (isPut(input)) return [{ table: input.TableName, item: input.Item }];
  if (!isBatch(input)) return [];
  return Object.entries(input.RequestItems).flatMap(([table, requests]) =>
    requests.flatMap(({ PutRequest }) =>
      PutRequest === undefined ? [] : [{ table, item: PutRequest.Item }],
    ),
  );
}

/** The items that are put from now on, without updates. */
export function watchWrites({ middlewareStack }: DynamoDBClient) {
  let written: Write[] = [];
  middlewareStack.add(
    (next) => (args) => {
      written.push(...writesOf(args.input));
      return next(args);
    },
    { step: 'initialize', name: 'written' },
  );
  return {
    reset: (): void => {
      written = [];
    },
    unitsIn: (name: string): number =>
      written
        .filter(({ table }) => table === name)
        .reduce((sum, { item }) => sum + Math.ceil(itemBytes(item) / 1_024), 0),
  };
}
