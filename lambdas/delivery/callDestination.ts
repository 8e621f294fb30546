import type { TlsIdentity } from '../account/account.ts';
import { limitsOf, type Account } from '../account/account.ts';
import { settings } from '../aws/settings.ts';
import { noAnswer, type DestinationResponse } from '../destination/response.ts';
import type { Message } from '../message/message.ts';
import { createDeliveryClient, type DeliveryRequest } from './client/deliveryClient.ts';
import { isArn } from '../destination/arns.ts';
import { isEcho } from '../destination/echo.ts';
import { deliveryHeaders } from './deliveryHeaders.ts';
import { plainName } from '../destination/addresses.ts';
import { targetOf } from '../destination/destination.ts';
import { allowedArns, deploymentRules, timeoutOf } from '../destination/rulesOfDeployment.ts';

const request = createDeliveryClient(
  deploymentRules,
  undefined,
  settings.keptConnections,
  settings.outboundProxies,
);

/** Makes an attempt's request, without sending it. */
export async function requestOf(
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

async function decoded(answer: DestinationResponse, maxBytes: number): Promise<DestinationResponse> {
  const isPlain = !answer.headers.some(([name]) => name === 'content-encoding');
  if (isPlain || answer.body.length === 0) return answer;
  const { decodeAnswer } = await import('./client/contentCoding.ts');
  return decodeAnswer(answer, maxBytes);
}

/** The answer of an attempt whose request is not sent. */
const refused = (error: string): DestinationResponse => ({ ...noAnswer(error), isRefusal: true });

/** An entry for the host takes precedence over one for `*`. */
function tlsIdentityOf({ tlsIdentities }: Account, url: string): TlsIdentity | undefined {
  if (tlsIdentities === undefined) return undefined;
  const { protocol, hostname } = targetOf(url);
  if (protocol !== 'https:') return undefined;
  const entryOf = (name: string) => tlsIdentities.find(({ host }) => host === name);
  return entryOf(plainName(hostname)) ?? entryOf('*');
}

/** @param attempt 0 for the first delivery */
export async function callUrl(
  message: Message,
  attempt: number,
  account: Account,
  body: Uint8Array,
): Promise<DestinationResponse> {
  const { url } = message;
  const identity = tlsIdentityOf(account, url);
  const tls = identity && (await (await import('./client/tlsContext.ts')).tlsContextOf(account.id, identity));
  if (tls?.fault !== undefined) return refused(tls.fault);
  const made = await requestOf(message, attempt, account, body);
  if (isEcho(url)) return (await import('./rules/echo.ts')).echoed(message, made);
  const answer = await request({ ...made, url, secureContext: tls?.secureContext });
  return decoded(answer, made.maxResponseBytes);
}

/**
 * Makes an attempt's request to a URL or an ARN.
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
