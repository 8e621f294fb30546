/** Sends received messages again, to the same queue or another one. */
import { SendMessageCommand } from '@aws-sdk/client-sqs';
import type { QueueName } from '../aws/resources.ts';
import { settings } from '../aws/settings.ts';
import { traceAttribute } from '../aws/trace.ts';
import { sqs } from '../aws/sqs.ts';

export interface Source {
  readonly name: QueueName;
  readonly url: string;
}

const sourceUrls: Readonly<Partial<Record<QueueName, string | undefined>>> = {
  short: settings.shortQueueUrl,
  long: settings.longQueueUrl,
  slow: settings.slowQueueUrl,
  dead: settings.deadQueueUrl,
  fire: settings.fireQueueUrl,
  accountChanges: settings.accountChangesQueues[settings.region],
};
const sources: readonly Source[] = Object.entries(sourceUrls).flatMap(([name, url]) =>
  url === undefined || !isSourceName(name) ? [] : [{ name, url }],
);

function isSourceName(name: string): name is QueueName {
  return Object.hasOwn(sourceUrls, name);
}

/** @throws Error for an unknown queue, or one without a function */
export function sourceOf(queueArn: string): Source {
  const name = queueArn.slice(queueArn.lastIndexOf(':') + 1);
  const source = sources.find(({ url }) => url.endsWith(`/${name}`));
  if (source === undefined) throw new Error(`There is no queue ${queueArn}.`);
  return source;
}

interface Sent {
  readonly text: string;
  readonly group: string | undefined;
  readonly delaySeconds?: number;
}

export async function sendText(queueUrl: string, { text, group, delaySeconds }: Sent): Promise<void> {
  await sqs.send(
    new SendMessageCommand({
      QueueUrl: queueUrl,
      MessageBody: text,
      MessageSystemAttributes: traceAttribute(),
      DelaySeconds: delaySeconds,
      MessageGroupId: group,
    }),
  );
}

/** @throws Error if there is no such queue with a function */
export async function sendToSource(name: string, sent: Sent): Promise<void> {
  const source = sources.find((one) => one.name === name);
  if (source === undefined) throw new Error(`There is no queue ${name} with a function behind it.`);
  await sendText(source.url, sent);
}

/** Moves a fire that no worker can finish to a queue for the operator. */
export async function sendUndelivered(text: string): Promise<void> {
  await sqs.send(new SendMessageCommand({ QueueUrl: settings.undeliveredFiresQueueUrl, MessageBody: text }));
}
