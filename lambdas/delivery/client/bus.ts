/**
 * Sends to users' buses. Failures are the users', so they are not counted as the service's, and the attempt has its own
 * retries.
 */
import { EventBridgeClient, PutEventsCommand } from '@aws-sdk/client-eventbridge';
import { clientOptions } from '../../aws/clientOptions.ts';
import type { DestinationResponse } from '../../destination/response.ts';
import { accepted, refusedBy, type MessageArn } from '../rules/awsAnswer.ts';
import type { BusEvent } from '../rules/busEvent.ts';

/** @throws the errors of the SDK */
export function openEventBridge(region: string) {
  const eventBridge = new EventBridgeClient({ ...clientOptions('quick'), maxAttempts: 1, region });
  return async (arn: MessageArn, event: BusEvent, abortSignal: AbortSignal): Promise<DestinationResponse> => {
    const { Entries: [entry] = [], $metadata } = await eventBridge.send(
      new PutEventsCommand({
        Entries: [
          {
            EventBusName: arn.arn,
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
    // The answer itself was a 200. An entry's error becomes a 400, and EventBridge's error a 500.
    return refusedBy(arn, { name, message, status: /^Internal/.test(name) ? 500 : 400 });
  };
}
