import * as sdk from '@aws-sdk/client-dynamodb';
import {
  BatchWriteItemCommand,
  ConditionalCheckFailedException,
  type DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { tables } from '../../../../lambdas/aws/resources.ts';
import { handingOver } from '../../../../local/aws/handOver.ts';
import { connect, type Call, type Connection, type Send } from '../../../../local/dynamodb/connection.ts';
import {
  handOverTo,
  startDynamodb,
  waitForTables,
  type Dynamodb,
} from '../../../../local/dynamodb/dynamodb.ts';
import { groupCommit } from '../../../../local/dynamodb/groupCommit.ts';
import { createMissing } from '../../../../local/dynamodb/tables.ts';

/** Writes to the real database through the group commit; `sent` has all that reached the database. */

const region = 'eu-central-1';
const credentials = { accessKeyId: 'any', secretAccessKey: 'any' };

let database: Dynamodb;
let connection: Connection;
let client: DynamoDBClient;
/** A client whose records of deliveries wait for other writes for as long as a test lasts. */
let patient: DynamoDBClient;
let sent: Call[] = [];
/** Stands before the database; a test may fail a call here. */
let before: (call: Call) => Promise<void>;

beforeAll(async () => {
  database = await startDynamodb({
    file: undefined,
    announce: () => undefined,
    onExit: (error) => {
      throw error;
    },
  });
  connection = connect(database.url);
  const send: Send = async (call) => {
    sent.push(call);
    await before(call);
    return connection.send(call);
  };
  before = () => Promise.resolve();
  client = new sdk.DynamoDBClient({ region, credentials, endpoint: database.url, maxAttempts: 1 });
  const existing = await waitForTables(client, database.url, new AbortController().signal);
  await createMissing(client, { messages: tables.messages }, existing);
  const handOver = (holdMs?: number) => handOverTo(groupCommit(send, holdMs));
  handingOver(new Map([['Dynamodb', { handOver: handOver(), sdk: () => sdk }]]))('Dynamodb', client);
  patient = new sdk.DynamoDBClient({ region, credentials });
  handingOver(new Map([['Dynamodb', { handOver: handOver(600_000), sdk: () => sdk }]]))('Dynamodb', patient);
});

afterAll(async () => {
  client.destroy();
  patient.destroy();
  await connection.close();
  await database.stop();
});

beforeEach(() => {
  sent = [];
  before = () => Promise.resolve();
});

let count = 0;
const newIds = (length: number): readonly string[] => Array.from({ length }, () => `id-${(count += 1)}`);

const keyOf = (id: string) => ({ shard: { S: 'shard' }, id: { S: id } });

const put = (id: string, text = 'first', by = client) =>
  by.send(new PutItemCommand({ TableName: 'messages', Item: { ...keyOf(id), text: { S: text } } }));

const putNew = (id: string, text: string) =>
  client.send(
    new PutItemCommand({
      TableName: 'messages',
      Item: { ...keyOf(id), text: { S: text } },
      ConditionExpression: 'attribute_not_exists(#id)',
      ExpressionAttributeNames: { '#id': 'id' },
      ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
    }),
  );

const textOf = async (id: string, by = client): Promise<string | undefined> => {
  const input = { TableName: 'messages', Key: keyOf(id), ConsistentRead: true };
  return (await by.send(new GetItemCommand(input))).Item?.['text']?.S;
};

const operations = (): readonly string[] => sent.map(({ operation }) => operation);

it('makes the writes that come together, or while others are made, in one transaction', async () => {
  const ids = newIds(30);
  let later: Promise<unknown> | undefined;
  before = ({ operation }) => {
    if (operation === 'TransactWriteItems') later ??= Promise.all(ids.slice(10).map((id) => put(id)));
    return Promise.resolve();
  };
  await Promise.all(ids.slice(0, 10).map((id) => put(id)));
  await later;
  expect(operations()).toEqual(['TransactWriteItems', 'TransactWriteItems']);
  expect(await Promise.all(ids.map((id) => textOf(id)))).toEqual(ids.map(() => 'first'));
});

it('makes at most a hundred writes in one transaction, and large ones in several', async () => {
  await Promise.all(newIds(251).map((id) => put(id)));
  expect(operations()).toEqual(Array<string>(3).fill('TransactWriteItems'));
  sent = [];
  await Promise.all(newIds(12).map((id) => put(id, 'x'.repeat(300_000))));
  expect(operations()).toEqual(Array<string>(4).fill('TransactWriteItems'));
});

it('refuses only the write whose condition fails, with the row on which it failed', async () => {
  const [taken = '', ...free] = newIds(10);
  await put(taken, 'of another');
  sent = [];
  const outcomes = await Promise.allSettled(
    [...free.slice(0, 5), taken, ...free.slice(5)].map((id) => putNew(id, 'new')),
  );
  const refused = outcomes.flatMap((outcome) =>
    outcome.status === 'rejected' ? [outcome.reason as unknown] : [],
  );
  expect(refused).toEqual([expect.any(ConditionalCheckFailedException)]);
  expect(refused[0]).toMatchObject({ Item: { text: { S: 'of another' } } });
  expect(await Promise.all([taken, ...free].map((id) => textOf(id)))).toEqual([
    'of another',
    ...free.map(() => 'new'),
  ]);
});

it('makes one of many writes that exclude each other', async () => {
  const [id = ''] = newIds(1);
  const outcomes = await Promise.allSettled(['a', 'b', 'c', 'd'].map((text) => putNew(id, text)));
  expect(outcomes.map(({ status }) => status).toSorted()).toEqual([
    'fulfilled',
    'rejected',
    'rejected',
    'rejected',
  ]);
});

it('makes each of many additions to one item', async () => {
  const [id = ''] = newIds(1);
  await Promise.all(Array.from({ length: 12 }, () => add(id)));
  const { Item } = await client.send(new GetItemCommand({ TableName: 'messages', Key: keyOf(id) }));
  expect(Item?.['additions']).toEqual({ N: '12' });
});

it('answers a write that DynamoDB refuses with its reason, and makes the others', async () => {
  const [wrong = '', ...right] = newIds(5);
  const writes = [...right.map((id) => put(id)), put('', 'an empty key'), put(wrong, 'right')];
  const outcomes = await Promise.allSettled(writes);
  expect(outcomes.map(({ status }) => status)).toEqual([
    ...right.map(() => 'fulfilled'),
    'rejected',
    'fulfilled',
  ]);
  expect(outcomes[4]).toMatchObject({ reason: { name: 'ValidationException' } });
});

it('makes batches together with other writes', async () => {
  const ids = newIds(20);
  const batch = client.send(
    new BatchWriteItemCommand({
      RequestItems: {
        messages: ids.map((id) => ({ PutRequest: { Item: { ...keyOf(id), text: { S: 'b' } } } })),
      },
    }),
  );
  const [single = ''] = newIds(1);
  const [{ UnprocessedItems }] = await Promise.all([batch, put(single), put(newIds(1)[0] ?? '')]);
  expect(UnprocessedItems).toEqual({});
  expect(operations()).toEqual(['TransactWriteItems']);
  sent = [];
  const remove = client.send(
    new BatchWriteItemCommand({
      RequestItems: { messages: ids.map((id) => ({ DeleteRequest: { Key: keyOf(id) } })) },
    }),
  );
  await Promise.all([put(single, 'second'), remove]);
  expect(await Promise.all([single, ...ids].map((id) => textOf(id)))).toEqual([
    'second',
    ...ids.map(() => undefined),
  ]);
});

const add = (id: string, ReturnValues?: 'ALL_NEW' | 'ALL_OLD') =>
  client.send(
    new UpdateItemCommand({
      TableName: 'messages',
      Key: keyOf(id),
      UpdateExpression: 'ADD additions :one',
      ExpressionAttributeValues: { ':one': { N: '1' } },
      ReturnValues,
    }),
  );

it('answers a write with the row as it has left it, before the next write of that row', async () => {
  const [one = '', other = '', plain = ''] = newIds(3);
  const adding = [one, other, one, one].map((id) => add(id, 'ALL_NEW'));
  const [answers] = await Promise.all([Promise.all(adding), put(plain)]);
  expect(answers.map(({ Attributes }) => Attributes)).toEqual([
    { ...keyOf(one), additions: { N: '1' } },
    { ...keyOf(other), additions: { N: '1' } },
    { ...keyOf(one), additions: { N: '2' } },
    { ...keyOf(one), additions: { N: '3' } },
  ]);
  expect(operations()).toEqual(['TransactWriteItems', 'GetItem', 'GetItem', 'UpdateItem', 'UpdateItem']);
});

it('makes a write that asks for the old row alone, and in its turn', async () => {
  const [one = '', other = '', plain = ''] = newIds(3);
  const [, { Attributes: first }, { Attributes: second }] = await Promise.all([
    add(one),
    add(one, 'ALL_OLD'),
    add(one, 'ALL_NEW'),
    put(other),
    put(plain),
  ]);
  expect(first?.['additions']).toEqual({ N: '1' });
  expect(second?.['additions']).toEqual({ N: '3' });
  expect(operations()).toEqual(['TransactWriteItems', 'UpdateItem', 'UpdateItem']);
});

/** Records the delivery of a message, as a worker does. */
const record = (id: string, by = client, more: Record<string, { S: string }> = {}) =>
  by.send(
    new PutItemCommand({
      TableName: 'messages',
      Item: {
        ...keyOf(`${id}~000000`),
        text: { S: 'first' },
        attempt: { N: '0' },
        state: { S: 'DELIVERED' },
        ...more,
      },
      ConditionExpression: 'attribute_not_exists(#id)',
      ExpressionAttributeNames: { '#id': 'id' },
    }),
  );

it('makes the record of a delivery, which nobody waits for, with the next write', async () => {
  const [delivered = '', next = '', queued = ''] = newIds(3);
  const recording = record(delivered, patient);
  await setTimeout(20);
  expect(operations()).toEqual([]);
  await Promise.all([recording, put(next, 'first', patient)]);
  expect(operations()).toEqual(['TransactWriteItems']);
  // The next message of the queue waits for this one.
  await record(queued, patient, { queueName: { S: 'orders' } });
});

it('makes the record of a delivery soon, and at once for who reads it', async () => {
  const [delivered = '', read = ''] = newIds(2);
  await record(delivered);
  const recording = record(read, patient);
  expect(await textOf(`${read}~000000`, patient)).toBe('first');
  await recording;
});

it('answers a consistent read after the writes of its partition that came before', async () => {
  const ids = newIds(40);
  const writes = Promise.all(ids.map((id) => put(id)));
  const last = ids.at(-1) ?? '';
  const query = new QueryCommand({
    TableName: 'messages',
    ConsistentRead: true,
    KeyConditionExpression: '#shard = :shard AND #id = :id',
    ExpressionAttributeNames: { '#shard': 'shard', '#id': 'id' },
    ExpressionAttributeValues: { ':shard': { S: 'shard' }, ':id': { S: last } },
  });
  const { Items = [] } = await client.send(query);
  expect(Items).toHaveLength(1);
  expect(operations()).toEqual(['TransactWriteItems', 'Query']);
  await writes;
});

it('fails all writes of a transaction whose answer is lost, and goes on with the next', async () => {
  const ids = newIds(6);
  before = ({ operation }) =>
    operation === 'TransactWriteItems' ? Promise.reject(new Error('lost')) : Promise.resolve();
  const outcomes = await Promise.allSettled(ids.map((id) => put(id)));
  expect(outcomes.map(({ status }) => status)).toEqual(ids.map(() => 'rejected'));
  before = () => Promise.resolve();
  await Promise.all(ids.map((id) => put(id, 'again')));
  expect(await Promise.all(ids.map((id) => textOf(id)))).toEqual(ids.map(() => 'again'));
});
