import { limitsOf, type Account } from '../account/account.ts';
import { settings } from '../aws/settings.ts';
import type { DestinationResponse } from '../destination/response.ts';
import type { Message } from '../message/message.ts';
import { createDeliveryClient, type DeliveryRequest } from './client/deliveryClient.ts';
import { isArn } from '../destination/arns.ts';
import { deliveryHeaders } from './deliveryHeaders.ts';
import { allowedArns, deploymentRules, timeoutOf } from '../destination/rulesOfDeployment.ts';

const request = createDeliveryClient(
  deploymentRules,
  undefined,
  settings.keptConnections,
  settings.outboundProxies,
);

/** The request of an attempt, all but its URL. */
async function requestOf(
  message: Message,
  attempt: number,
  account: Account,
  body: Uint8Array,
): Promise<Omit<DeliveryRequest, 'url'>> {
  return {
    method: message.method,
    headers: await deliveryHeaders(message, attempt, account, body),
    body,
    timeoutMs: timeoutOf(message),
    maxResponseBytes: limitsOf(account).max_message_size,
  };
}

/** Decodes an answer that came compressed. Few do, and the code is loaded for the first. */
async function decoded(answer: DestinationResponse, maxBytes: number): Promise<DestinationResponse> {
  const isPlain = !answer.headers.some(([name]) => name === 'content-encoding');
  if (isPlain || answer.body.length === 0) return answer;
  const { decodeAnswer } = await import('./client/contentCoding.ts');
  return decodeAnswer(answer, maxBytes);
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
  const made = await requestOf(message, attempt, account, body);
  return decoded(await request({ ...made, url: message.url }), made.maxResponseBytes);
}

/**
 * Makes the request of an attempt: to a URL, or to what an ARN names. The code for the latter is loaded for the first.
 *
 * @param attempt 0 for the first delivery
 */
export async function callDestination(
  message: Message,
  attempt: number,
  account: Account,
  body: Uint8Array,
): Promise<DestinationResponse> {
  if (!isArn(message.url)) return callUrl(message, attempt, account, body);
  const made = await requestOf(message, attempt, account, body);
  const { sendToArn } = await import('./client/sending.ts');
  return decoded(await sendToArn(made, message, allowedArns(account)), made.maxResponseBytes);
}
