/**
 * Named tokens are in the accounts table. Only the last use changes, so a process reads a row once. The account's row, read for
 * each request, says which tokens are valid.
 */
import { DeleteItemCommand, GetItemCommand, PutItemCommand } from '@aws-sdk/client-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import { tokenKey } from '../aws/resources.ts';
import { settings } from '../aws/settings.ts';
import { dynamodbIn, toItem } from '../aws/dynamodb.ts';
import { dayMs, epochSeconds } from '../shared/clock.ts';
import { namedToken, type NamedToken } from './namedToken.ts';

export const namedTokenKey = (accountId: string, tokenId: string) =>
  toItem({ id: tokenKey(accountId, tokenId) });

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
  return Item && namedToken.parse({ ...unmarshall(Item), id, accountId });
}

/** An ended token is listed this long. Then its row expires. */
const endedShownMs = 30 * dayMs;

/**
 * @param region the account's region
 * @param until Unix milliseconds at which its row expires; by default some time after the token's end, if any
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

export async function deleteNamedToken(accountId: string, id: string, region: string): Promise<void> {
  await dynamodbIn(region).send(
    new DeleteItemCommand({ TableName: settings.accountsTable, Key: namedTokenKey(accountId, id) }),
  );
}
