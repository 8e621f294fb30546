import { DeleteMessageCommand, ReceiveMessageCommand, type SQSClient } from '@aws-sdk/client-sqs';
import { vi } from 'vitest';

/**
 * Receives all notices of changed accounts, including those due within two minutes.
 *
 * @returns their texts
 */
export async function takeNotices(client: SQSClient, QueueUrl: string): Promise<readonly string[]> {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 120_000 });
  const texts: string[] = [];
  for (;;) {
    const { Messages = [] } = await client.send(
      new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: 10 }),
    );
    if (Messages.length === 0) break;
    for (const { Body = '', ReceiptHandle } of Messages) {
      texts.push(Body);
      await client.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle }));
    }
  }
  vi.useRealTimers();
  return texts;
}
