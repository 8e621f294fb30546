import type { DestinationResponse } from '../../destination/response.ts';
import type { Message } from '../../message/message.ts';
import type { MessageArn, MessageBounds } from '../rules/awsAnswer.ts';
import type { DeliveryRequest } from './deliveryClient.ts';

export type Request = Omit<DeliveryRequest, 'url'>;
export type Sent = Pick<
  Message,
  'url' | 'messageId' | 'accountId' | 'callerIp' | 'prefix' | 'headers' | 'queueName' | 'flowControl'
>;

/** Sends messages to one service. */
export interface MessageSender extends MessageBounds {
  readonly open: (region: string) => (
    to: MessageArn,
    request: Request,
    message: Sent,
  ) => {
    readonly bytes: number;
    /** @throws the errors of the SDK */
    readonly send: (deadline: AbortSignal) => Promise<DestinationResponse>;
  };
}
