/** The headers of an attempt: the signatures, and what tells the destination about its message. */
import type { Account } from '../account/account.ts';
import { signingKeysOf } from '../account/credentials.ts';
import { masterSecret } from '../account/secrets.ts';
import { settings } from '../aws/settings.ts';
import type { Message } from '../message/message.ts';
import { dialectsToSign } from '../request/dialect.ts';
import { addMissingHeaders } from '../request/forwarding.ts';
import { now } from '../shared/clock.ts';
import { headerName, type Header } from '../shared/headers.ts';
import { loopMark } from './loopDetection.ts';
import { signatureHeaders } from './rules/signature.ts';

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

/**
 * Makes all headers of an attempt. The service's own go before those that the message forwards.
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
  return addMissingHeaders(own, addMissingHeaders(message.headers, [['user-agent', 'Svc-Queue']]));
}
