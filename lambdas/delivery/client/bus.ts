/**
 * Sends to users' buses. A failure is the user's, not the service's, so it is not counted. The attempt has
 * its own retries.
 */
import { EventBridgeClient, PutEventsCommand } from '@aws-sdk/client-eventbridge';
import { clientOptions } from '../../aws/clientOptions.ts';
import type { DestinationResponse } from '../../destination/response.ts';
import { accepted, refusedBy, type MessageArn } from '../rules/awsAnswer.ts';
import { busEvent, sizeOfEvent, type BusEvent } from '../rules/busEvent.ts';
import type { MessageSender } from './messageSender.ts';

function openEventBridge(region: string) {
  const eventBridge = new EventBridgeClient({ ...clientOptions('quick'), maxAttempts: 1, region });
  return async (to: MessageArn, event: BusEvent, abortSignal: AbortSignal): Promise<DestinationResponse> => {
    const { Entries: [entry] = [], $metadata } = await eventBridge.send(
      new PutEventsCommand({
        Entries: [
          {
            EventBusName: to.arn,
            Source: event.source,
            DetailType: event.detailType,
            Detail: event.detail,
          },
        ],
      }),
      { abortSignal },
    );
    if (entry?.EventId !== undefined) return accepted({ EventId: entry.EventId }, $metadata.requestId);
    const { ErrorCode: name = 'UnknownError', ErrorMessage: message = '' } = entry ?? {};
    // The call was answered with 200, but the event may be refused. An error of the event becomes a 400, and
    // an error of EventBridge a 500.
    return refusedBy(to, { name, message, status: /^Internal/.test(name) ? 500 : 400 });
  };
}

export const buses: MessageSender = {
  // "Serverless services now support payloads up to 1 MB" (AWS Compute Blog, January 2026).
  mostBytes: 1_048_576,
  takesEmpty: true,
  open: (region) => {
    const put = openEventBridge(region);
    return (to, { headers, body }) => {
      const event = busEvent(headers, body);
      return { bytes: sizeOfEvent(event), send: (deadline) => put(to, event, deadline) };
    };
  },
};
