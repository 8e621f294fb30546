/**
 * Sends to users' queues. Failures are the users', so they are not counted as the service's, and the attempt has its own
 * retries.
 */
import { SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import { clientOptions } from '../../aws/clientOptions.ts';
import { accepted, type MessageArn } from '../rules/awsAnswer.ts';
import { sentParts, type AwsMessage, type FifoIds } from '../rules/awsMessage.ts';

/** The URL of a queue ("Amazon SQS queue and message identifiers", Developer Guide). */
function queueUrlOf({ partition, region, accountId, resource }: MessageArn): string {
  const domain = partition === 'aws-cn' ? 'amazonaws.com.cn' : 'amazonaws.com';
  return `https://sqs.${region}.${domain}/${accountId}/${resource}`;
}

/** @throws the errors of the SDK */
export function openSqs(region: string) {
  const sqs = new SQSClient({
    ...clientOptions('quick'),
    maxAttempts: 1,
    region,
    // On one machine, the SDK's own variable names the service's queues.
    endpoint: process.env['DESTINATION_SQS_URL'],
    // The URL names AWS's endpoint, even for an emulator.
    useQueueUrlAsEndpoint: false,
    md5: false,
  });
  return async (
    arn: MessageArn,
    message: AwsMessage,
    fifo: FifoIds | undefined,
    abortSignal: AbortSignal,
  ) => {
    const { MessageId, SequenceNumber, $metadata } = await sqs.send(
      new SendMessageCommand({
        QueueUrl: queueUrlOf(arn),
        MessageBody: message.text,
        ...sentParts(message, fifo),
      }),
      { abortSignal },
    );
    return accepted({ MessageId, SequenceNumber }, $metadata.requestId);
  };
}
