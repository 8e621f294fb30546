/**
 * Sends messages to functions, queues, topics and buses in AWS. The clients are large and rarely needed, so `lib/bundle.ts`
 * makes a separate bundle of this file, with a chunk for each client.
 */
import { readArn, refusingList, type AllowedArns } from '../../destination/arns.ts';
import { noAnswer, type DestinationResponse } from '../../destination/response.ts';
import type { Message } from '../../message/message.ts';
import { headerName } from '../../shared/headers.ts';
import { refusedBy, unsendable, type MessageArn } from '../rules/awsAnswer.ts';
import { awsMessage, fifoIdsOf, sizeOf } from '../rules/awsMessage.ts';
import { busEvent, sizeOfEvent } from '../rules/busEvent.ts';
import { callWithin, inEachRegion } from './awsCall.ts';
import type { DeliveryRequest } from './deliveryClient.ts';

type Request = Omit<DeliveryRequest, 'url'>;
type Sent = Pick<
  Message,
  'url' | 'messageId' | 'accountId' | 'callerIp' | 'prefix' | 'headers' | 'queueName' | 'flowControl'
>;

const queues = inEachRegion(async (region) => (await import('./queue.ts')).openSqs(region));
const topics = inEachRegion(async (region) => (await import('./topic.ts')).openSns(region));
const buses = inEachRegion(async (region) => (await import('./bus.ts')).openEventBridge(region));

type Send = (deadline: AbortSignal) => Promise<DestinationResponse>;

function prepared(
  arn: MessageArn,
  { headers, body }: Request,
  of: Sent,
): { readonly bytes: number; readonly send: Send } {
  if (arn.service === 'events') {
    const event = busEvent(headers, body);
    const send: Send = async (deadline) => (await buses(arn.region))(arn, event, deadline);
    return { bytes: sizeOfEvent(event), send };
  }
  const first = [headerName(of.prefix, 'message-id').toLowerCase(), ...of.headers.map(([name]) => name)];
  const message = awsMessage(headers, first, body);
  const fifo = arn.resource.endsWith('.fifo') ? fifoIdsOf(of) : undefined;
  const clientIn = arn.service === 'sqs' ? queues : topics;
  const send: Send = async (deadline) => (await clientIn(arn.region))(arn, message, fifo, deadline);
  return { bytes: sizeOf(message), send };
}

/**
 * Without an answer, for example because the ARN is no longer allowed, the response has status 0 and an error's text. Never
 * rejects.
 */
export async function sendToArn(
  request: Request,
  message: Sent,
  allowed: AllowedArns,
): Promise<DestinationResponse> {
  const { url: arn, messageId, callerIp } = message;
  const refusing = refusingList(arn, allowed);
  if (refusing !== undefined)
    return {
      ...noAnswer(`The destination ${arn} is refused: ${refusing} does not have it.`),
      isRefusal: true,
    };
  const { service, ...parts } = readArn(arn);
  if (service === 'lambda') {
    const { invokeFunction } = await import('./invocation.ts');
    return invokeFunction({ ...request, arn, messageId, callerIp });
  }
  const to: MessageArn = { ...parts, service, arn };
  const { bytes, send } = prepared(to, request, message);
  return (
    unsendable(service, bytes, request.body.length === 0) ??
    callWithin(arn, request.timeoutMs, send, ({ name, message: said, $metadata }) =>
      refusedBy(to, { name, message: said, status: $metadata?.httpStatusCode }),
    )
  );
}
