/**
 * Publishes to users' topics. A failure is the user's, not the service's, so it is not counted. The attempt
 * has its own retries.
 */
import { PublishCommand, SNSClient } from '@aws-sdk/client-sns';
import { clientOptions } from '../../aws/clientOptions.ts';
import { accepted } from '../rules/awsAnswer.ts';
import { sentMessage } from '../rules/awsMessage.ts';
import type { MessageSender } from './messageSender.ts';

export const topics: MessageSender = {
  // A topic takes 256 KiB, or up to 1 MiB: https://docs.aws.amazon.com/sns/latest/dg/large-message-payloads.html
  mostBytes: 1_048_576,
  takesEmpty: false,
  open: (region) => {
    const sns = new SNSClient({ ...clientOptions('quick'), maxAttempts: 1, region });
    return (to, request, of) => {
      const { text, parts, bytes } = sentMessage(to.resource, request, of);
      const command = new PublishCommand({ TopicArn: to.arn, Message: text, ...parts });
      return {
        bytes,
        send: async (abortSignal) => {
          const { MessageId, SequenceNumber, $metadata } = await sns.send(command, { abortSignal });
          return accepted({ MessageId, SequenceNumber }, $metadata.requestId);
        },
      };
    };
  },
};
