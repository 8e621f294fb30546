/**
 * Disconnects a DynamoDB client: its calls are answered here, and recorded with keys and units. So the stores make a hundred
 * thousand real rows in seconds. Only rows that were put here can be read.
 */
import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import * as z from 'zod/mini';
import { tables, type TableShape } from '../../lambdas/aws/resources.ts';
import { readUnits, writeUnits, type Item } from '../units.ts';
import type { KeyLoads } from './keyLoads.ts';

const item = z.custom<Item>((value: unknown) => typeof value === 'object' && value !== null);
// The stand-ins' tables have the names of their shapes.
const tableName = z.custom<keyof typeof tables>(
  (name) => typeof name === 'string' && Object.hasOwn(tables, name),
);
const put = z.object({ TableName: tableName, Item: item });
const update = z.object({ TableName: tableName, Key: item });
const get = z.object({ TableName: tableName, Key: item, ConsistentRead: z._default(z.boolean(), false) });

/** The part of a key that shows the kind of row, without ids and numbers. */
function kindOf(partitionKey: string, sortKey: string | undefined): string {
  const [beginning = '', second = ''] = partitionKey.split('#');
  if (/^[a-z]+$/.test(beginning) && second !== '') return beginning;
  if (/^\d+$/.test(second)) return 'account#shard';
  if (second !== '') return `account#${second}`;
  return sortKey === undefined ? 'account' : `account, ${sortKey.replace(/[#_~].*$/, '')}`;
}

/** The calls that the simulation makes, with their answers. */
export interface Answers {
  /** The units and the answer of an update. No other updates are expected. */
  readonly update: (key: Item, input: object) => { readonly row: Item };
}

export interface CutOff {
  second: number;
  /** Stores a row without recording it. */
  readonly keep: (table: keyof typeof tables, row: Item) => void;
  /** Reconnects the client. */
  readonly end: () => void;
}

const middleware = 'cutOff';

export function cutOff(client: DynamoDBClient, loads: KeyLoads, answers: Answers): CutOff {
  const kept = new Map<string, Item>();
  const textOf = (row: Item, attribute: string | undefined): string =>
    attribute === undefined ? '' : (row[attribute]?.S ?? row[attribute]?.N ?? '');
  const keyOf = (table: keyof typeof tables, row: Item): string => {
    const { partitionKey, sortKey }: TableShape = tables[table];
    return [table, textOf(row, partitionKey), textOf(row, sortKey)].join(' ');
  };
  const place: CutOff = {
    second: 0,
    keep: (table, row) => {
      kept.set(keyOf(table, row), row);
    },
    end: () => {
      client.middlewareStack.remove(middleware);
    },
  };

  function noteWrite(table: keyof typeof tables, row: Item): void {
    const { partitionKey, sortKey, indexes }: TableShape = tables[table];
    const key = textOf(row, partitionKey);
    const kind = kindOf(key, sortKey === undefined ? undefined : textOf(row, sortKey));
    loads.note({ place: table, kind, key, direction: 'write' }, writeUnits(row), place.second);
    for (const index of indexes) {
      // A lane's name does not change, so only its first write also writes to the index.
      if (!(index.sortKey in row) || table === 'lanes') continue;
      const shown = projected(row, index.includes, [
        partitionKey,
        sortKey ?? '',
        index.partitionKey,
        index.sortKey,
      ]);
      const indexKey = textOf(row, index.partitionKey);
      const use = {
        place: `${table}, index ${index.name}`,
        kind: kindOf(indexKey, ''),
        key: indexKey,
        direction: 'write',
      } as const;
      loads.note(use, writeUnits(shown), place.second);
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
        const { TableName: table, Key: key } = update.parse(input);
        const { row } = answers.update(key, input);
        noteWrite(table, { ...row, ...key });
        return { Attributes: { ...row, ...key } };
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
        loads.note(use, readUnits(row === undefined ? [] : [row], consistent), place.second);
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
  return place;
}

function projected(row: Item, includes: readonly string[] | undefined, keys: readonly string[]): Item {
  if (includes === undefined) return row;
  const names = [...keys, ...includes];
  return Object.fromEntries(Object.entries(row).filter(([name]) => names.includes(name)));
}
