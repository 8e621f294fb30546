/**
 * Replaces a DynamoDB client: its calls are answered here, and recorded with keys and units. So the stores
 * write a hundred thousand real rows in seconds. Only rows that were put here can be read.
 */
import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import * as z from 'zod/mini';
import { tables, type TableShape } from '../../lambdas/aws/resources.ts';
import { item, projection, tableName, type TableName } from '../dynamodbUses.ts';
import { readUnits, writeUnits, type Item } from '../units.ts';
import type { KeyLoads } from './keyLoads.ts';

const put = z.object({ TableName: tableName, Item: item });
const updating = z.object({ TableName: tableName, Key: item });
const get = z.object({ TableName: tableName, Key: item, ConsistentRead: z._default(z.boolean(), false) });

/** The part of a key that shows the kind of row, without ids and numbers. */
function kindOf(partitionKey: string, sortKey: string | undefined): string {
  const [beginning = '', second = ''] = partitionKey.split('#');
  if (/^[a-z]+$/.test(beginning) && second !== '') return beginning;
  if (/^\d+$/.test(second)) return 'account#shard';
  if (second !== '') return `account#${second}`;
  return sortKey === undefined ? 'account' : `account, ${sortKey.replace(/[#_~].*$/, '')}`;
}

export interface CutOff {
  second: number;
  /** Stores a row without recording it. */
  readonly keep: (table: TableName, row: Item) => void;
  readonly end: () => void;
}

const middleware = 'cutOff';

export function cutOff(
  client: DynamoDBClient,
  loads: KeyLoads,
  update: (key: Item, input: object) => Item,
): CutOff {
  const kept = new Map<string, Item>();
  const textOf = (row: Item, attribute: string | undefined): string =>
    attribute === undefined ? '' : (row[attribute]?.S ?? row[attribute]?.N ?? '');
  const keyOf = (table: TableName, row: Item): string => {
    const { partitionKey, sortKey }: TableShape = tables[table];
    return [table, textOf(row, partitionKey), textOf(row, sortKey)].join(' ');
  };
  const cut: CutOff = {
    second: 0,
    keep: (table, row) => {
      kept.set(keyOf(table, row), row);
    },
    end: () => {
      client.middlewareStack.remove(middleware);
    },
  };

  function noteWrite(table: TableName, row: Item): void {
    const shape: TableShape = tables[table];
    const noteIn = (place: string, written: Item, key: string, sortKey: string | undefined): void => {
      const use = { place, kind: kindOf(key, sortKey), key, direction: 'write' } as const;
      loads.note(use, writeUnits(written), cut.second);
    };
    const { partitionKey, sortKey } = shape;
    noteIn(table, row, textOf(row, partitionKey), sortKey === undefined ? undefined : textOf(row, sortKey));
    for (const index of shape.indexes) {
      const entry = projection(shape, index)(row);
      // A lane's name does not change, so only its first write also writes to the index.
      if (entry !== undefined && table !== 'lanes')
        noteIn(`${table}, index ${index.name}`, entry, textOf(row, index.partitionKey), '');
    }
  }

  function answer(command: string, input: object): object {
    switch (command) {
      case 'PutItemCommand': {
        const { TableName: table, Item: row } = put.parse(input);
        noteWrite(table, row);
        return {};
      }
      case 'UpdateItemCommand': {
        const { TableName: table, Key: key } = updating.parse(input);
        const row = { ...update(key, input), ...key };
        noteWrite(table, row);
        return { Attributes: row };
      }
      case 'GetItemCommand': {
        const { TableName: table, Key: key, ConsistentRead: consistent } = get.parse(input);
        const row = kept.get(keyOf(table, key));
        const partition = textOf(key, tables[table].partitionKey);
        const use = {
          place: table,
          kind: kindOf(partition, undefined),
          key: partition,
          direction: 'read',
        } as const;
        loads.note(use, readUnits(row === undefined ? [] : [row], consistent), cut.second);
        return row === undefined ? {} : { Item: row };
      }
      default:
        throw new Error(`There is no answer here to DynamoDB's ${command}.`);
    }
  }

  client.middlewareStack.add(
    (_next, { commandName = '' }) =>
      (args) => {
        const output = { $metadata: {}, ...answer(commandName, args.input) };
        return Promise.resolve({ output, response: {} });
      },
    { step: 'initialize', name: middleware, priority: 'high' },
  );
  return cut;
}
