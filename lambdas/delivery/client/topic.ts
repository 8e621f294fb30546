/**
 * Publishes to users' topics. Failures are the users', so they are not counted as the service's, and the attempt has its own
 * retries.
 */
import { PublishCommand, SNSClient } from '@aws-sdk/client-sns';
import { clientOptions } from '../../aws/clientOptions.ts';
import { accepted, type MessageArn } from '../rules/awsAnswer.ts';
import { sentParts, type AwsMessage, type FifoIds } from '../rules/awsMessage.ts';

/** @throws the errors of the SDK */
export function openSns(region: string) {
  const sns = new SNSClient({ ...clientOptions('quick'), maxAttempts: 1, region });
  return async (
    { arn }: MessageArn,
    message: AwsMessage,
    fifo: FifoIds | undefined,
    abortSignal: AbortSignal,
  ) => {
    const { MessageId, SequenceNumber, $metadata } = await sns.send(
      new PublishCommand({
        TopicArn: arn,
        Message: message.text,
        ...sentParts(message, fifo),
      }),
      { abortSignal },
    );
    return accepted({ MessageId, SequenceNumber }, $metadata.requestId);
  };
}
