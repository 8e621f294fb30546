import { limitsOf, type Account } from '../account/account.ts';
import { signingKeysOf } from '../account/credentials.ts';
import { now } from '../shared/clock.ts';
import type { DestinationResponse } from '../destination/response.ts';
import { signatureHeaders } from './rules/signature.ts';
import { headerName, type Header } from '../shared/headers.ts';
import { dialectsToSign } from '../request/dialect.ts';
import { addMissingHeaders } from '../request/forwarding.ts';
import type { Message } from '../message/message.ts';
import { settings } from '../aws/settings.ts';
import { masterSecret } from '../account/secrets.ts';
import { createDeliveryClient, type DeliveryRequest } from './client/deliveryClient.ts';
import { isFunction, refusingList } from '../destination/functions.ts';
import { deploymentRules, functionsOf } from '../destination/rulesOfDeployment.ts';
import { loopMark } from './loopDetection.ts';

const request = createDeliveryClient(deploymentRules);

/** Makes the headers that tell a destination where its message came from. */
function originHeaders({ prefix, ...message }: Message): readonly Header[] {
  const origin = {
    'topic-name': message.topicName,
    'endpoint-name': message.endpointName,
    'queue-name': message.queueName,
    'schedule-id': message.scheduleId,
  };
  return Object.entries(origin).flatMap(([name, value]): Header[] =>
    value === undefined ? [] : [[headerName(prefix, name).toLowerCase(), value]],
  );
}

/** The request of an attempt, signed and with all headers that tell the destination about its message. */
async function requestOf(
  message: Message,
  attempt: number,
  account: Account,
  body: Uint8Array,
): Promise<Omit<DeliveryRequest, 'url'>> {
  const { prefix, messageId } = message;
  const signatures = signatureHeaders(signingKeysOf(await masterSecret(), account), {
    messageId,
    url: message.url,
    body,
    dialects: dialectsToSign(prefix, settings.headerPrefixes),
    signedAt: now(),
  });
  const own: readonly Header[] = [
    [headerName(prefix, 'message-id').toLowerCase(), messageId],
    [headerName(prefix, 'retried').toLowerCase(), String(attempt)],
    [headerName(prefix, 'caller-ip').toLowerCase(), message.callerIp],
    [headerName(prefix, 'region').toLowerCase(), settings.region],
    ...originHeaders(message),
    ...(await loopMark(message)),
    ...signatures.map(([name, value]): Header => [name.toLowerCase(), value]),
  ];
  return {
    method: message.method,
    headers: addMissingHeaders(own, addMissingHeaders(message.headers, [['user-agent', 'Svc-Queue']])),
    body,
    timeoutMs: message.timeoutMs,
    maxResponseBytes: limitsOf(account).max_message_size,
  };
}

/**
 * Makes the request of an attempt to a URL.
 *
 * @param attempt 0 for the first delivery
 */
export async function callUrl(
  message: Message,
  attempt: number,
  account: Account,
  body: Uint8Array,
): Promise<DestinationResponse> {
  return request({ ...(await requestOf(message, attempt, account, body)), url: message.url });
}

/**
 * Makes the request of an attempt: to a URL or to a function.
 *
 * @param attempt 0 for the first delivery
 */
export const callDestination = (
  message: Message,
  attempt: number,
  account: Account,
  body: Uint8Array,
): Promise<DestinationResponse> =>
  (isFunction(message.url) ? callFunction : callUrl)(message, attempt, account, body);

/** Invokes the function of a message, unless it is not allowed any more. The code is loaded for the first. */
async function callFunction(
  message: Message,
  attempt: number,
  account: Account,
  body: Uint8Array,
): Promise<DestinationResponse> {
  const { url: arn, messageId, callerIp } = message;
  const refusing = refusingList(arn, functionsOf(account));
  if (refusing !== undefined) {
    const error = `The function ${arn} is refused: ${refusing} does not have it.`;
    return { status: 0, error, headers: [], body: new Uint8Array(), isRefusal: true };
  }
  const { invokeFunction } = await import('./client/invocation.ts');
  const made = await requestOf(message, attempt, account, body);
  return invokeFunction({ ...made, arn, messageId, callerIp });
}
