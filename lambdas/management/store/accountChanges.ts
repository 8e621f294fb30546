import { SendMessageCommand } from '@aws-sdk/client-sqs';
import { formatAccountChange, type AccountChange } from '../accountChange.ts';
import { settings } from '../../aws/settings.ts';
import { sqsIn } from '../../aws/sqs.ts';

/** @param delaySeconds until the notice is delivered, at most 900 */
export async function tellRegion(region: string, change: AccountChange, delaySeconds: number): Promise<void> {
  await sqsIn(region).send(
    new SendMessageCommand({
      QueueUrl: settings.accountChangesQueues[region],
      MessageBody: formatAccountChange(change),
      DelaySeconds: delaySeconds,
    }),
  );
}
