/** Writes of one row, on a condition if there is one. */
import {
  ConditionalCheckFailedException,
  DeleteItemCommand,
  PutItemCommand,
  UpdateItemCommand,
  type UpdateItemCommandInput,
} from '@aws-sdk/client-dynamodb';
import { randomUUID } from 'node:crypto';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import { dynamodb, toItem, type Key, type Row } from './dynamodb.ts';

export interface Terms {
  /** The write is refused unless this condition is met. */
  readonly onlyIf?: string | undefined;
  /** The values in the expressions, by their name after the colon. Undefined values are left out. */
  readonly values?: object | undefined;
  /** Names of attributes that differ from the names after `#` in the expressions. */
  readonly names?: Readonly<Record<string, string>> | undefined;
  /** The attributes that the write returns, by default none. */
  readonly returns?: 'ALL_OLD' | 'ALL_NEW' | 'UPDATED_NEW';
}

/**
 * The row has the attributes that the write returns. After a refusal it is the row that failed the condition,
 * which DynamoDB returns at no cost (ReturnValuesOnConditionCheckFailure: "No read capacity units are
 * consumed").
 */
type Outcome =
  | { readonly isMade: true; readonly row: Row }
  | { readonly isMade: false; readonly row: Row | undefined };

function inputOf({ onlyIf, values = {}, names = {}, returns }: Terms, expression = '') {
  const used = new Set([...`${expression} ${onlyIf ?? ''}`.matchAll(/#(\w+)/g)].map(([, name = '']) => name));
  const given = Object.entries(values).flatMap(([name, value]: [string, unknown]) =>
    value === undefined ? [] : [[`:${name}`, value] as const],
  );
  return {
    ...(onlyIf !== undefined && {
      ConditionExpression: onlyIf,
      ReturnValuesOnConditionCheckFailure: 'ALL_OLD' as const,
    }),
    ...(used.size > 0 && {
      ExpressionAttributeNames: Object.fromEntries(
        [...used].map((name) => [`#${name}`, names[name] ?? name]),
      ),
    }),
    ...(given.length > 0 && { ExpressionAttributeValues: toItem(Object.fromEntries(given)) }),
    ...(returns !== undefined && { ReturnValues: returns }),
  };
}

export async function outcomeOf(write: Promise<{ readonly Attributes?: Key | undefined }>): Promise<Outcome> {
  try {
    const { Attributes = {} } = await write;
    return { isMade: true, row: unmarshall(Attributes) };
  } catch (error) {
    if (!(error instanceof ConditionalCheckFailedException)) throw error;
    return { isMade: false, row: error.Item && unmarshall(error.Item) };
  }
}

export const put = (table: string, row: object, terms: Terms = {}, client = dynamodb): Promise<Outcome> =>
  outcomeOf(client.send(new PutItemCommand({ TableName: table, Item: toItem(row), ...inputOf(terms) })));

/**
 * Writes a row with a random mark. If an answer was lost and the SDK repeats the write, the mark shows that
 * the row is already written, which counts as success.
 */
export async function putMarked(table: string, row: object, terms: Terms): Promise<Outcome> {
  // 48 random bits; Node.js keeps random bytes ready only for UUIDs.
  const mark = randomUUID().slice(-12);
  const { isMade, row: found } = await put(table, { ...row, mark }, terms);
  return isMade || found?.['mark'] === mark ? { isMade: true, row: found ?? {} } : { isMade, row: found };
}

/** @param expression an update expression, such as `SET state = :state` */
export const updateInput = (
  table: string,
  key: object,
  expression: string,
  terms: Terms,
): UpdateItemCommandInput => ({
  TableName: table,
  Key: toItem(key),
  UpdateExpression: expression,
  ...inputOf(terms, expression),
});

export const update = (
  table: string,
  key: object,
  expression: string,
  terms: Terms = {},
  client = dynamodb,
): Promise<Outcome> =>
  outcomeOf(client.send(new UpdateItemCommand(updateInput(table, key, expression, terms))));

export const remove = (table: string, key: object, terms: Terms = {}, client = dynamodb): Promise<Outcome> =>
  outcomeOf(client.send(new DeleteItemCommand({ TableName: table, Key: toItem(key), ...inputOf(terms) })));

/** For tables with the sort key `id`. */
export const ifNew: Terms = { onlyIf: 'attribute_not_exists(id)' };

/**
 * For tables with the key `accountId`, whose rows get a higher version with each change. If undefined, there
 * must be no row.
 */
export const ifVersionIs = (version: number | undefined): Terms =>
  version === undefined
    ? { onlyIf: 'attribute_not_exists(accountId)' }
    : { onlyIf: '#version = :version', values: { version } };

/** @returns false if the condition refused the write */
export const unlessRefused = async (write: Promise<Outcome>): Promise<boolean> => (await write).isMade;

/** @returns false if the row exists */
export const putNew = (table: string, row: object): Promise<boolean> => unlessRefused(put(table, row, ifNew));
