import { accountId, queueArn } from '../aws/arns.ts';
import type { Received } from './queues.ts';

/** A message's `MessageSystemAttributes`. Numbers are texts too. */
export function systemAttributes(message: Received, region: string) {
  const { sentAt, receives, firstReceivedAt, groupId, deadLetterSource } = message;
  return {
    SenderId: accountId,
    SentTimestamp: String(sentAt),
    ApproximateReceiveCount: String(receives),
    ApproximateFirstReceiveTimestamp: String(firstReceivedAt),
    ...(groupId !== undefined && { MessageGroupId: groupId }),
    ...(deadLetterSource !== undefined && { DeadLetterQueueSourceArn: queueArn(region, deadLetterSource) }),
  };
}
