import type { Account } from '../account/account.ts';
import { completionToken } from '../account/completionToken.ts';
import { signingKeysOf } from '../account/credentials.ts';
import { masterSecret } from '../account/secrets.ts';
import { settings } from '../aws/settings.ts';
import { groupHooks } from '../message/kinds.ts';
import type { Message } from '../message/message.ts';
import { deliveryDialects } from '../request/dialect.ts';
import { addMissingHeaders } from '../request/forwarding.ts';
import { now } from '../shared/clock.ts';
import { headerBytes, headerName, type Header } from '../shared/headers.ts';
import { loopMark } from './loopDetection.ts';
import { deferralOf } from './rules/deferral.ts';
import { signatureHeaders } from './rules/signature.ts';

function tellingHeaders(message: Message, dialect: string, attempt: number): readonly Header[] {
  const told = {
    'message-id': message.messageId,
    retried: String(attempt),
    'caller-ip': message.callerIp,
    region: settings.region,
    'origin-message-id': message.originMessageId,
    'topic-name': message.topicName,
    'endpoint-name': message.endpointName,
    'queue-name': message.queueName,
    'schedule-id': message.scheduleId,
  };
  return Object.entries(told).flatMap(([name, value]): Header[] =>
    value === undefined ? [] : [[headerName(dialect, name).toLowerCase(), headerBytes(value)]],
  );
}

async function completionHeaders(
  message: Message,
  dialects: readonly string[],
  attempt: number,
): Promise<readonly Header[]> {
  if (deferralOf(message) === undefined || settings.apiUrl === undefined) return [];
  const { accountId, messageId } = message;
  const token = await completionToken({ accountId, messageId, attempt, startedAt: now() });
  const url = `${settings.apiUrl}/v2/complete/${token}`;
  return dialects.map((dialect): Header => [headerName(dialect, 'complete-url').toLowerCase(), url]);
}

/** Makes the additional signature of a URL group's endpoint. */
async function ownSignature(message: Message, body: Uint8Array): Promise<readonly Header[]> {
  const { endpointSignature: known, accountId } = message;
  if (known === undefined) return [];
  const { endpointSignatureHeader } = await import('./rules/endpointSignature.ts');
  const { latestSignature } = await groupHooks();
  const signed = { accountId, body, signedAt: now() };
  return [endpointSignatureHeader(await latestSignature(message, known), await masterSecret(), signed)];
}

/**
 * Makes all headers of an attempt: first the service's, then the forwarded ones. `hideHeaders` omits those
 * that describe the message, but not the mark that stops loops. Only requests that may go to an API have the
 * mark.
 *
 * @param attempt 0 for the first delivery
 */
export async function deliveryHeaders(
  message: Message,
  attempt: number,
  account: Account,
  body: Uint8Array,
): Promise<readonly Header[]> {
  const { prefix, messageId } = message;
  const dialects = deliveryDialects(prefix, settings.headerPrefixes);
  const signatures = signatureHeaders(signingKeysOf(await masterSecret(), account), {
    messageId,
    url: message.url,
    body,
    dialects,
    signedAt: now(),
  });
  const own: readonly Header[] = [
    ...(message.hideHeaders === true
      ? []
      : dialects.flatMap((dialect) => tellingHeaders(message, dialect, attempt))),
    ...(await completionHeaders(message, dialects, attempt)),
    ...(await loopMark(message)),
    ...signatures.map(([name, value]): Header => [name.toLowerCase(), value]),
    ...(await ownSignature(message, body)),
  ];
  return addMissingHeaders(own, addMissingHeaders(message.headers, [['user-agent', 'Svc-Queue']]));
}
