/**
 * Sends to users' queues. A failure is the user's, not the service's, so it is not counted. The attempt has
 * its own retries.
 */
import { SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import { clientOptions } from '../../aws/clientOptions.ts';
import { accepted, type MessageArn } from '../rules/awsAnswer.ts';
import { sentMessage } from '../rules/awsMessage.ts';
import type { MessageSender } from './messageSender.ts';

/** The URL of a queue ("Amazon SQS queue and message identifiers", Developer Guide). */
function queueUrlOf({ partition, region, accountId, resource }: MessageArn): string {
  const domain = partition === 'aws-cn' ? 'amazonaws.com.cn' : 'amazonaws.com';
  return `https://sqs.${region}.${domain}/${accountId}/${resource}`;
}

export const queues: MessageSender = {
  // "Amazon SQS message quotas" (Developer Guide): 1 MiB.
  mostBytes: 1_048_576,
  takesEmpty: false,
  open: (region) => {
    const sqs = new SQSClient({
      ...clientOptions('quick'),
      maxAttempts: 1,
      region,
      // On one machine, a variable names the endpoint of the destinations' queues. The SDK's own variable
      // names that of the service's queues.
      endpoint: process.env['DESTINATION_SQS_URL'],
      // A queue's URL has AWS's host, even with an emulator.
      useQueueUrlAsEndpoint: false,
      md5: false,
    });
    return (to, request, of) => {
      const { text, parts, bytes } = sentMessage(to.resource, request, of);
      const command = new SendMessageCommand({ QueueUrl: queueUrlOf(to), MessageBody: text, ...parts });
      return {
        bytes,
        send: async (abortSignal) => {
          const { MessageId, SequenceNumber, $metadata } = await sqs.send(command, { abortSignal });
          return accepted({ MessageId, SequenceNumber }, $metadata.requestId);
        },
      };
    };
  },
};
