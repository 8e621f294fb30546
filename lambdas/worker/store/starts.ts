/** Unfinished starts of jobs, in the usage table. A start is a mark in a set, so a repeated call counts once. */
import { UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import * as z from 'zod/mini';
import { dayMs, epochSeconds } from '../../shared/clock.ts';
import { startsPrefix } from '../../aws/resources.ts';
import { settings } from '../../aws/settings.ts';
import { dynamodb, toItem } from '../../aws/dynamodb.ts';

/** Longer than SQS keeps the job's message (14 days). */
const keptMs = 15 * dayMs;

const keyOf = (job: string) => toItem({ owner: `${startsPrefix}${job}`, id: 'begun' });

const row = z.object({ marks: z.set(z.string()) });

/**
 * @param job a unique name
 * @param mark different for each start
 * @param now Unix milliseconds
 * @returns the number of recorded starts, including this one
 */
export async function noteStart(job: string, mark: string, now: number): Promise<number> {
  const { Attributes = {} } = await dynamodb.send(
    new UpdateItemCommand({
      TableName: settings.usageTable,
      Key: keyOf(job),
      UpdateExpression: 'ADD marks :mark SET expiresAt = :expiresAt',
      ExpressionAttributeValues: {
        ':mark': { SS: [mark] },
        ':expiresAt': { N: String(epochSeconds(now + keptMs)) },
      },
      ReturnValues: 'ALL_NEW',
    }),
  );
  return row.parse(unmarshall(Attributes)).marks.size;
}

/** Unknown marks are ignored. @param now Unix milliseconds */
export async function removeStarts(job: string, marks: readonly string[], now: number): Promise<void> {
  await dynamodb.send(
    new UpdateItemCommand({
      TableName: settings.usageTable,
      Key: keyOf(job),
      UpdateExpression: 'DELETE marks :marks SET expiresAt = :expiresAt',
      ExpressionAttributeValues: {
        ':marks': { SS: [...marks] },
        ':expiresAt': { N: String(epochSeconds(now + keptMs)) },
      },
    }),
  );
}

/** Includes deaths. @param now Unix milliseconds */
export async function forgetStarts(job: string, now: number): Promise<void> {
  await dynamodb.send(
    new UpdateItemCommand({
      TableName: settings.usageTable,
      Key: keyOf(job),
      UpdateExpression: 'REMOVE marks SET expiresAt = :expiresAt',
      ExpressionAttributeValues: { ':expiresAt': { N: String(epochSeconds(now + keptMs)) } },
    }),
  );
}
