/** Messages that a worker could not finish: sent again to their queue, or to where an operator sees them. */
import { SendMessageCommand } from '@aws-sdk/client-sqs';
import { settings } from '../aws/settings.ts';
import { traceAttribute } from '../aws/trace.ts';
import { sqs } from '../aws/sqs.ts';

/** @throws Error for a queue that is not this service's, or has no function behind it */
function urlOfSource(queueArn: string): string {
  const { shortQueueUrl, longQueueUrl, deadQueueUrl, fireQueueUrl, accountChangesQueues, region } = settings;
  const urls = [shortQueueUrl, longQueueUrl, deadQueueUrl, fireQueueUrl, accountChangesQueues[region]];
  const name = queueArn.slice(queueArn.lastIndexOf(':') + 1);
  const url = urls.find((known) => known?.endsWith(`/${name}`));
  if (url === undefined) throw new Error(`There is no queue ${queueArn}.`);
  return url;
}

/**
 * Sends a message again to the queue that it came from.
 *
 * @param group the message's group, where it has one
 */
export async function sendAgain(
  queueArn: string,
  text: string,
  group: string | undefined,
  delaySeconds: number,
): Promise<void> {
  await sqs.send(
    new SendMessageCommand({
      QueueUrl: urlOfSource(queueArn),
      MessageBody: text,
      MessageSystemAttributes: traceAttribute(),
      DelaySeconds: delaySeconds,
      MessageGroupId: group,
    }),
  );
}

/** Puts a fire that no worker can finish where an operator sees it. */
export async function sendUndelivered(text: string): Promise<void> {
  await sqs.send(new SendMessageCommand({ QueueUrl: settings.undeliveredFiresQueueUrl, MessageBody: text }));
}
