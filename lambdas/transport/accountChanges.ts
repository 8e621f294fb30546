/** Tells regions that an account was changed, so that each follows. */
import { SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import * as z from 'zod/mini';
import { settings } from '../settings.ts';

/** By region. Each takes its region's endpoint and not the queue's URL, which names AWS's even where an emulator plays it. */
const clients = new Map<string, SQSClient>();

function clientOf(region: string): SQSClient {
  const known = clients.get(region);
  if (known !== undefined) return known;
  const client = new SQSClient({
    region,
    useQueueUrlAsEndpoint: false,
    maxAttempts: 5,
    requestHandler: { connectionTimeout: 3_000, requestTimeout: 4_000 },
  });
  clients.set(region, client);
  return client;
}

const notice = z.object({ accountId: z.string() });

/** @throws Error for what is no notice of a change */
export const parseAccountChange = (text: string): string => notice.parse(JSON.parse(text)).accountId;

/** @param delaySeconds after which the region looks at the account, at most 900 */
export async function tellRegion(region: string, accountId: string, delaySeconds: number): Promise<void> {
  await clientOf(region).send(
    new SendMessageCommand({
      QueueUrl: settings.accountChangesQueues[region],
      MessageBody: JSON.stringify({ accountId }),
      DelaySeconds: delaySeconds,
    }),
  );
}

/** @param delaySeconds see {@link tellRegion} */
export async function tellAllRegions(accountId: string, delaySeconds: number): Promise<void> {
  await Promise.all(settings.regions.map((region) => tellRegion(region, accountId, delaySeconds)));
}
