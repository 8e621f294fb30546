/**
 * The rows of named tokens, in the accounts' table. A row is written in its account's region, and does not change but for the day of
 * the last use, so a process reads it once. Whether the token still exists is in the account's row, which is read for each request.
 */
import { DeleteItemCommand, GetItemCommand, PutItemCommand } from '@aws-sdk/client-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import * as z from 'zod/mini';
import { tokenKey } from '../aws/resources.ts';
import { settings } from '../aws/settings.ts';
import { dynamodbIn, toItem } from '../aws/dynamodb.ts';
import { dayMs, epochSeconds } from '../shared/clock.ts';
import { scopes, type NamedToken } from './namedToken.ts';

const tokenRow = z.object({
  name: z.string(),
  scope: z.enum(scopes),
  destinations: z.optional(z.array(z.string())),
  createdAt: z.number(),
  endsAt: z.optional(z.number()),
  lastUsed: z.optional(z.string()),
});

export const namedTokenKey = (accountId: string, tokenId: string) =>
  toItem({ id: tokenKey(accountId, tokenId) });

/** Reads a named token. @returns undefined where there is none */
export async function loadNamedToken(
  accountId: string,
  id: string,
  region: string = settings.region,
): Promise<NamedToken | undefined> {
  const { Item } = await dynamodbIn(region).send(
    new GetItemCommand({
      TableName: settings.accountsTable,
      Key: namedTokenKey(accountId, id),
      ConsistentRead: true,
    }),
  );
  return Item && { id, accountId, ...tokenRow.parse(unmarshall(Item)) };
}

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
        ...namedTokenKey(accountId, id),
        ...toItem({ ...token, expiresAt: until && epochSeconds(until) }),
      },
    }),
  );
}

/** Removes a named token's row. */
export async function deleteNamedToken(accountId: string, id: string, region: string): Promise<void> {
  await dynamodbIn(region).send(
    new DeleteItemCommand({ TableName: settings.accountsTable, Key: namedTokenKey(accountId, id) }),
  );
}
