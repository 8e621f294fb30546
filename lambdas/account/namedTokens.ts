/**
 * The rows of named tokens, in the accounts' table. A row is written in its account's region, and does not change but for the day of
 * the last use, so a process reads it once. Whether the token still exists is in the account's row, which is read for each request.
 */
import {
  DeleteItemCommand,
  GetItemCommand,
  PutItemCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import * as z from 'zod/mini';
import { tokenKey } from '../aws/resources.ts';
import { settings } from '../aws/settings.ts';
import { dynamodb, dynamodbIn, toItem, unlessRefused } from '../aws/dynamodb.ts';
import { cached } from '../shared/cached.ts';
import { dayMs, dayOf, epochSeconds, now } from '../shared/clock.ts';
import type { Caller } from './authenticate.ts';
import { scopes, type NamedToken, type TokenScope } from './namedToken.ts';

const tokenRow = z.object({
  name: z.string(),
  scope: z.enum(scopes),
  destinations: z.optional(z.array(z.string())),
  createdAt: z.number(),
  endsAt: z.optional(z.number()),
  lastUsed: z.optional(z.string()),
});

/** The access that each scope gives. */
export const accessOf: Readonly<Record<TokenScope, Caller['access']>> = {
  full: 'write',
  read: 'read',
  publish: 'publish',
};

const keyOf = (accountId: string, tokenId: string) => toItem({ id: tokenKey(accountId, tokenId) });

/** Reads a named token. @returns undefined where there is none */
export async function loadNamedToken(
  accountId: string,
  id: string,
  region: string = settings.region,
): Promise<NamedToken | undefined> {
  const { Item } = await dynamodbIn(region).send(
    new GetItemCommand({
      TableName: settings.accountsTable,
      Key: keyOf(accountId, id),
      ConsistentRead: true,
    }),
  );
  return Item && { id, accountId, ...tokenRow.parse(unmarshall(Item)) };
}

const known = cached(dayMs, (key: string) => {
  const [accountId = '', tokenId = ''] = key.split('/');
  return loadNamedToken(accountId, tokenId);
});

/** Finds a named token that this process may have read before. */
export const namedTokens = (accountId: string, tokenId: string): Promise<NamedToken | undefined> =>
  known(`${accountId}/${tokenId}`);

/** A token that has ended is listed for this long; then its row expires. */
const endedShownMs = 30 * dayMs;

/**
 * Writes a named token.
 *
 * @param region its account's
 * @param until Unix milliseconds at which its row expires; where absent, some time after the token's end, if it has one
 */
export async function saveNamedToken(
  { id, accountId, ...token }: NamedToken,
  region: string,
  until = token.endsAt && token.endsAt + endedShownMs,
): Promise<void> {
  await dynamodbIn(region).send(
    new PutItemCommand({
      TableName: settings.accountsTable,
      Item: {
        ...keyOf(accountId, id),
        ...toItem({ ...token, expiresAt: until && epochSeconds(until) }),
      },
    }),
  );
}

/** Removes a named token's row. */
export async function deleteNamedToken(accountId: string, id: string, region: string): Promise<void> {
  await dynamodbIn(region).send(
    new DeleteItemCommand({ TableName: settings.accountsTable, Key: keyOf(accountId, id) }),
  );
}

/** The day of its last use that this process knows, by the token's id. */
const lastUses = new Map<string, string>();
const mostLastUses = 1_000;

/**
 * Notes that a named token was used. One write a day and token is made, by the process that comes first: another that has read the
 * token before reads it once more, and finds it noted.
 */
export async function noteUse({ id, accountId, lastUsed }: NamedToken): Promise<void> {
  const today = dayOf(now());
  if (lastUsed === today || lastUses.get(id) === today) return;
  if (lastUses.size >= mostLastUses) lastUses.clear();
  lastUses.set(id, today);
  try {
    await writeUse(accountId, id, today);
  } catch (error) {
    lastUses.delete(id);
    throw error;
  }
}

async function writeUse(accountId: string, id: string, today: string): Promise<void> {
  if ((await loadNamedToken(accountId, id))?.lastUsed === today) return;
  await unlessRefused(
    dynamodb.send(
      new UpdateItemCommand({
        TableName: settings.accountsTable,
        Key: keyOf(accountId, id),
        UpdateExpression: 'SET lastUsed = :today',
        // A token that was revoked meanwhile gets no row.
        ConditionExpression:
          'attribute_exists(#name) AND (attribute_not_exists(lastUsed) OR lastUsed < :today)',
        ExpressionAttributeNames: { '#name': 'name' },
        ExpressionAttributeValues: { ':today': { S: today } },
      }),
    ),
  );
}
