import { GetQueueAttributesCommand } from '@aws-sdk/client-sqs';
import { settings } from './settings.ts';
import { sqs } from './sqs.ts';

/** Returns the messages in each queue of this region: visible, in flight and delayed. */
export async function queueDepths(): Promise<Readonly<Record<string, number>>> {
  const urls = {
    short: settings.shortQueueUrl,
    long: settings.longQueueUrl,
    slow: settings.slowQueueUrl,
    dead: settings.deadQueueUrl,
    fire: settings.fireQueueUrl,
    undeliveredFires: settings.undeliveredFiresQueueUrl,
    parked: settings.parkedQueueUrl,
    accountChanges: settings.accountChangesQueues[settings.region],
  };
  const depths = await Promise.all(
    Object.entries(urls).map(
      async ([name, url]) => [name, url === undefined ? 0 : await depthOf(url)] as const,
    ),
  );
  return Object.fromEntries(depths);
}

/** Approximate: SQS may not count a message, or still count a deleted one, for a minute. */
async function depthOf(QueueUrl: string): Promise<number> {
  const { Attributes = {} } = await sqs.send(
    new GetQueueAttributesCommand({
      QueueUrl,
      AttributeNames: [
        'ApproximateNumberOfMessages',
        'ApproximateNumberOfMessagesNotVisible',
        'ApproximateNumberOfMessagesDelayed',
      ],
    }),
  );
  return Object.values(Attributes).reduce((sum, count) => sum + Number(count), 0);
}
