/**
 * Sends messages to functions, queues, topics and buses in AWS. The clients are large and rarely needed, so
 * `lib/bundle.ts` makes a separate bundle of this file, with a chunk for each client.
 */
import {
  readArn,
  refusingList,
  type AllowedArns,
  type ArnService,
  type DestinationArn,
} from '../../destination/arns.ts';
import { noAnswer, type DestinationResponse } from '../../destination/response.ts';
import { refusedBy, unsendable, type MessageArn, type MessageService } from '../rules/awsAnswer.ts';
import { callWithin, inEachRegion } from './awsCall.ts';
import type { MessageSender, Request, Sent } from './messageSender.ts';

type Send = (
  to: DestinationArn & { readonly arn: string },
  request: Request,
  message: Sent,
) => Promise<DestinationResponse>;

function sendsMessages(service: MessageService, load: () => Promise<MessageSender>): Send {
  const senders = inEachRegion(async (region) => {
    const sender = await load();
    return { ...sender, prepare: sender.open(region) };
  });
  return (arn, request, message) => {
    const to: MessageArn = { ...arn, service };
    return callWithin(
      to.arn,
      request.timeoutMs,
      async (deadline) => {
        const { prepare, ...bounds } = await senders(to.region);
        const { bytes, send } = prepare(to, request, message);
        return unsendable(service, bounds, bytes, request.body.length === 0) ?? send(deadline);
      },
      ({ name, message: said, $metadata }) =>
        refusedBy(to, { name, message: said, status: $metadata?.httpStatusCode }),
    );
  };
}

const senders: Readonly<Record<ArnService, Send>> = {
  lambda: async ({ arn }, request, { messageId, callerIp }) =>
    (await import('./invocation.ts')).invokeFunction({ ...request, arn, messageId, callerIp }),
  sqs: sendsMessages('sqs', async () => (await import('./queue.ts')).queues),
  sns: sendsMessages('sns', async () => (await import('./topic.ts')).topics),
  events: sendsMessages('events', async () => (await import('./bus.ts')).buses),
};

/**
 * Sends a request to an ARN. Never rejects: without an answer, for example because the ARN is no longer
 * allowed, the response has status 0 and an error's text.
 */
export async function sendToArn(
  request: Request,
  message: Sent,
  allowed: AllowedArns,
): Promise<DestinationResponse> {
  const { url: arn } = message;
  const refusing = refusingList(arn, allowed);
  if (refusing !== undefined)
    return {
      ...noAnswer(`The destination ${arn} is refused: ${refusing} does not have it.`),
      isRefusal: true,
    };
  const parts = readArn(arn);
  return senders[parts.service]({ ...parts, arn }, request, message);
}
