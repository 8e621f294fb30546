/**
 * Named tokens in the accounts table. Only the last use changes, so a process reads a row once. The account's
 * row, which each request reads, says which tokens are valid.
 */
import { GetItemCommand } from '@aws-sdk/client-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import { tokenKey } from '../aws/resources.ts';
import { settings } from '../aws/settings.ts';
import { dynamodbIn, toItem } from '../aws/dynamodb.ts';
import { dayMs, epochSeconds } from '../shared/clock.ts';
import { namedToken, type NamedToken } from './namedToken.ts';
import { put, remove } from '../aws/writes.ts';

export const namedTokenKey = (accountId: string, tokenId: string) => ({ id: tokenKey(accountId, tokenId) });

export async function loadNamedToken(
  accountId: string,
  id: string,
  region: string = settings.region,
): Promise<NamedToken | undefined> {
  const { Item } = await dynamodbIn(region).send(
    new GetItemCommand({
      TableName: settings.accountsTable,
      Key: toItem(namedTokenKey(accountId, id)),
      ConsistentRead: true,
    }),
  );
  return Item && namedToken.parse({ ...unmarshall(Item), id, accountId });
}

/** How long an expired token is listed. Then its row expires. */
const endedShownMs = 30 * dayMs;

/**
 * @param region the account's region
 * @param until when the row expires; by default some time after the token, if it expires
 */
export async function saveNamedToken(
  { id, accountId, ...token }: NamedToken,
  region: string,
  until = token.endsAt && token.endsAt + endedShownMs,
): Promise<void> {
  const row = { ...namedTokenKey(accountId, id), ...token, expiresAt: until && epochSeconds(until) };
  await put(settings.accountsTable, row, {}, dynamodbIn(region));
}

export async function deleteNamedToken(accountId: string, id: string, region: string): Promise<void> {
  await remove(settings.accountsTable, namedTokenKey(accountId, id), {}, dynamodbIn(region));
}
