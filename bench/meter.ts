/**
 * Counts every request that this process makes to AWS, and what AWS bills for it. The two clients that carry the messages
 * are watched from inside, where items and payloads can be measured; all HTTP requests are watched from outside as well,
 * so that no retry and no other client goes uncounted.
 */
import { subscribe } from 'node:diagnostics_channel';
import { ClientRequest } from 'node:http';
import type { DynamoDBClient, ServiceOutputTypes } from '@aws-sdk/client-dynamodb';
import type { SQSClient } from '@aws-sdk/client-sqs';
import * as z from 'zod/mini';
import type { StandIns } from '../local/standIns.ts';
import { tables, type TableShape } from '../lambdas/resources.ts';
import type { Unit } from './prices.ts';
import { readUnits, sqsRequests, writeUnits, type Item } from './units.ts';

/** Something that AWS bills. */
export interface Use {
  /** Whose doing it is, such as `publish`. */
  readonly by: string;
  /** What was called, such as `PutItem messages`. */
  readonly what: string;
  readonly unit: Unit;
  readonly amount: number;
}

export interface Meter {
  /** Does some work and returns what it used. */
  measure(by: string, work: () => Promise<void>): Promise<readonly Use[]>;
}

interface Clients {
  readonly dynamodb: DynamoDBClient;
  readonly sqs: SQSClient;
}

type Step = Omit<Use, 'by'>;
type RecordStep = (what: string, unit: Unit, amount: number) => void;

/** @throws Error from `measure` when a request was made that no client told of, or DynamoDB counts other units */
export function attachMeter({ dynamodb, sqs }: Clients, standIns: StandIns): Meter {
  /** The uses of each call, in the order in which the calls were begun; absent while nothing is measured. */
  let calls: Step[][] | undefined;
  let told = 0;
  let seen = 0;
  const begin = (): RecordStep => {
    const steps: Step[] = [];
    calls?.push(steps);
    return (what, unit, amount) => steps.push({ what, unit, amount });
  };

  dynamodb.middlewareStack.add(
    (next, context) => async (args) => {
      if (calls === undefined) return next(args);
      told += 1;
      const input = { ...args.input, ReturnConsumedCapacity: 'INDEXES' as const };
      const record = begin();
      const result = await next({ ...args, input });
      recordDynamodb(operationOf(context.commandName), input, result.output, record);
      return result;
    },
    { step: 'initialize', name: 'meter' },
  );
  sqs.middlewareStack.add(
    (next, context) => (args) => {
      if (calls === undefined) return next(args);
      told += 1;
      recordSqs(operationOf(context.commandName), args.input, begin());
      return next(args);
    },
    { step: 'initialize', name: 'meter' },
  );

  const byHost = new Map<string, (request: ClientRequest) => void>([
    [new URL(standIns.dynamodbUrl).host, () => (seen += 1)],
    [new URL(standIns.sqs.url).host, () => (seen += 1)],
    [
      new URL(standIns.s3Url).host,
      ({ method }) => {
        begin()(`${method} object`, s3UnitOf(method), 1);
      },
    ],
    [
      new URL(standIns.secretsUrl).host,
      () => {
        begin()('GetSecretValue', 'secretRead', 1);
      },
    ],
  ]);
  subscribe('http.client.request.start', (message) => {
    const { request } = httpRequest.parse(message);
    if (calls !== undefined) byHost.get(String(request.getHeader('host')))?.(request);
  });

  return {
    measure: async (by, work) => {
      const measured: Step[][] = [];
      calls = measured;
      [told, seen] = [0, 0];
      try {
        await work();
      } finally {
        calls = undefined;
      }
      if (told !== seen) throw new Error(`${by} made ${seen} requests, of which ${told} are accounted for.`);
      return measured.flat().map((step) => ({ by, ...step }));
    },
  };
}

const httpRequest = z.object({ request: z.instanceof(ClientRequest) });

const s3UnitOf = (method: string): Unit => (method === 'GET' ? 's3Get' : 's3Put');

/** `PutItemCommand` does `PutItem`. */
const operationOf = (commandName: string | undefined): string => (commandName ?? '').replace(/Command$/, '');

type TableName = keyof typeof tables;

const item = z.custom<Item>((value: unknown) => typeof value === 'object' && value !== null);
const request = z.object({
  // The stand-ins' tables have the names of their shapes.
  TableName: z.custom<TableName>((name) => typeof name === 'string' && Object.hasOwn(tables, name)),
  ConsistentRead: z._default(z.boolean(), false),
  Item: z.optional(item),
});
const response = z.object({
  Item: z.optional(item),
  Items: z.optional(z.array(item)),
  /** Of an update that returns the whole item as it is afterwards. */
  Attributes: z.optional(item),
  /** Not every stand-in for DynamoDB counts. */
  ConsumedCapacity: z.optional(z.object({ CapacityUnits: z.number() })),
});

/** Counts by the documents' rules, and holds the result against what DynamoDB's stand-in counted. */
function recordDynamodb(
  operation: string,
  input: object,
  output: ServiceOutputTypes,
  record: RecordStep,
): void {
  const { TableName: table, ConsistentRead: consistent, Item: put } = request.parse(input);
  const { Item: found, Items: all, Attributes: updated, ConsumedCapacity: counted } = response.parse(output);
  const written = put ?? updated;
  const what = `${operation} ${table}`;
  const uses = written === undefined ? readsOf() : writesOf(written);
  for (const use of uses) record(...use);
  const units = uses.reduce((sum, [, , amount]) => sum + amount, 0);
  if (counted !== undefined && counted.CapacityUnits !== units) {
    throw new Error(`${what} takes ${units} units by the documents, ${counted.CapacityUnits} by its count.`);
  }

  function writesOf(row: Item): readonly Parameters<RecordStep>[] {
    if (!['PutItem', 'UpdateItem'].includes(operation))
      throw new Error(`There is no rule here for DynamoDB's ${operation}.`);
    const units = writeUnits(row);
    const indexes = indexesWith(table, row).map((name) => `its row in the index ${name}`);
    return [what, ...indexes].map((place) => [place, 'dynamoWrite', units]);
  }

  function readsOf(): readonly Parameters<RecordStep>[] {
    if (!['GetItem', 'Query'].includes(operation))
      throw new Error(`There is no rule here for DynamoDB's ${operation}.`);
    return [[what, 'dynamoRead', readUnits(all ?? (found === undefined ? [] : [found]), consistent)]];
  }
}

/** The indexes that a row stands in: those whose keys it has. They hold it whole. */
function indexesWith(table: TableName, row: Item): readonly string[] {
  const { indexes }: TableShape = tables[table];
  return indexes.filter(({ sortKey }) => sortKey in row).map(({ name }) => name);
}

const sqsInput = z.object({ MessageBody: z.string(), MessageGroupId: z.optional(z.string()) });

function recordSqs(operation: string, input: object, record: RecordStep): void {
  if (operation !== 'SendMessage') throw new Error(`There is no rule here for SQS's ${operation}.`);
  const { MessageBody, MessageGroupId } = sqsInput.parse(input);
  const requests = sqsRequests(Buffer.byteLength(MessageBody));
  record(operation, 'sqsRequest', requests);
  if (MessageGroupId !== undefined) record('its group (fair queue)', 'sqsGroup', requests);
}
