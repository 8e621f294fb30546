import { ConditionalCheckFailedException, type UpdateItemCommandInput } from '@aws-sdk/client-dynamodb';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type * as storesModule from '../../../lambdas/aws/dynamodb.ts';
import { useFixture } from '../../support/useFixture.ts';
import type { Fixture } from '../../support/fixture.ts';

let fixture: Fixture;
let stores: typeof storesModule;
let table: string;
useFixture(
  async (opened) => {
    fixture = opened;
    stores = await import('../../../lambdas/aws/dynamodb.ts');
    table = (await import('../../../lambdas/aws/settings.ts')).settings.accountsTable;
  },
  { overHttp: true },
);

type Failing = (made: () => Promise<unknown>) => Promise<never>;
let failing: Failing | undefined;
let tries = 0;
beforeEach(() => {
  tries = 0;
  fixture.dynamodb.middlewareStack.add(
    (next, context) => async (args) => {
      if (context.commandName !== 'UpdateItemCommand') return next(args);
      tries += 1;
      return failing === undefined ? next(args) : failing(() => next(args));
    },
    { step: 'deserialize', name: 'tries', priority: 'high' },
  );
});
afterEach(() => {
  failing = undefined;
  fixture.dynamodb.middlewareStack.remove('tries');
});

const adding = (id: string, condition?: string): UpdateItemCommandInput => ({
  TableName: table,
  Key: { id: { S: id } },
  UpdateExpression: 'ADD tried :one',
  ExpressionAttributeValues: { ':one': { N: '1' } },
  ReturnValues: 'ALL_NEW',
  ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
  ...(condition !== undefined && { ConditionExpression: condition }),
});
const errorNamed = (name: string): Error => Object.assign(new Error('No.'), { name });
const errorOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => undefined,
    (error: unknown) => error,
  );

it('adds, and returns the new value', async () => {
  await stores.updateOnce(adding('once#1'));
  const { Attributes } = await stores.updateOnce(adding('once#1'));
  expect(Attributes).toEqual({ id: { S: 'once#1' }, tried: { N: '2' } });
  expect(tries).toBe(2);
});

it.each(['ThrottlingException', 'TimeoutError'])(
  'is sent once if it fails with %s, which is thrown',
  async (name) => {
    const error = errorNamed(name);
    failing = () => Promise.reject(error);
    expect(await errorOf(stores.updateOnce(adding('once#2')))).toBe(error);
    expect(tries).toBe(1);
  },
);

it('is not repeated if its answer is lost', async () => {
  failing = async (made) => {
    await made();
    throw errorNamed('TimeoutError');
  };
  expect(await errorOf(stores.updateOnce(adding('once#3')))).toMatchObject({ name: 'TimeoutError' });
  failing = undefined;
  const { Attributes } = await stores.updateOnce(adding('once#3'));
  expect(Attributes?.['tried']).toEqual({ N: '2' });
});

it('throws a refusal with the existing row', async () => {
  await stores.updateOnce(adding('once#4'));
  const error = await errorOf(stores.updateOnce(adding('once#4', 'attribute_not_exists(id)')));
  expect(error).toBeInstanceOf(ConditionalCheckFailedException);
  expect(error).toMatchObject({ Item: { id: { S: 'once#4' }, tried: { N: '1' } } });
});

it('does not affect the retries of other updates', async () => {
  const { UpdateItemCommand } = await import('@aws-sdk/client-dynamodb');
  let failures = 2;
  failing = async (made) => {
    if ((failures -= 1) >= 0) throw errorNamed('ThrottlingException');
    return (await made()) as never;
  };
  await stores.updateOnce(adding('once#5')).catch(() => undefined);
  tries = 0;
  const { Attributes } = await stores.dynamodb.send(new UpdateItemCommand(adding('once#5')));
  expect(tries).toBe(2);
  expect(Attributes?.['tried']).toEqual({ N: '1' });
});
