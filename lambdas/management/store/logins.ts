import { UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import * as z from 'zod/mini';
import { minuteMs, epochSeconds } from '../../shared/clock.ts';
import { settings } from '../../aws/settings.ts';
import { dynamodb, getRow, toItem } from '../../aws/dynamodb.ts';

export const loginPeriodMs = 15 * minuteMs;

const loginKey = (client: string, now: number) => ({
  owner: `login#${client}`,
  id: String(Math.floor(now / loginPeriodMs)),
});

const loginRow = z.object({ failures: z.number() });

export async function failedLogins(client: string, now: number): Promise<number> {
  const row = await getRow(settings.usageTable, loginKey(client, now), true);
  return row === undefined ? 0 : loginRow.parse(row).failures;
}

/** @returns the failures within the current quarter of an hour */
export async function addFailedLogin(client: string, now: number): Promise<number> {
  const { Attributes = {} } = await dynamodb.send(
    new UpdateItemCommand({
      TableName: settings.usageTable,
      Key: toItem(loginKey(client, now)),
      UpdateExpression: 'ADD failures :one SET expiresAt = :expiresAt',
      ExpressionAttributeValues: {
        ':one': { N: '1' },
        ':expiresAt': { N: String(epochSeconds(now + 2 * loginPeriodMs)) },
      },
      ReturnValues: 'ALL_NEW',
    }),
  );
  return loginRow.parse(unmarshall(Attributes)).failures;
}
