/** A delivery as a message of SQS or SNS: the body becomes its text, and the headers its attributes. */
import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';
import { headerName, type Header } from '../../shared/headers.ts';
import { headersByName } from './headersByName.ts';

interface AwsMessage {
  readonly text: string;
  readonly attributes: ReadonlyMap<string, string>;
}

/** The most attributes that SQS accepts, and that SNS passes on to queues. */
const mostAttributes = 10;
const otherHeaders = 'svc-headers';
const bodyEncoding = 'svc-body-encoding';
const mostHeaders = mostAttributes - 2;

const attributeName = /^(?!aws\.|amazon\.|\.)(?!.*\.\.)[\w.-]{1,256}(?<!\.)$/i;
/** Text that SQS accepts, in a body and in an attribute ("SendMessage", API reference of SQS). */
const allowedText = /^[\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]+$/u;

/** Returns the body as text; in base64 if it is not UTF-8, or has characters that SQS refuses. */
function textOf(body: Uint8Array): { readonly text: string; readonly isBase64: boolean } {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.length);
  const text = isUtf8(bytes) ? bytes.toString('utf8') : '';
  return allowedText.test(text)
    ? { text, isBase64: false }
    : { text: bytes.toString('base64'), isBase64: bytes.length > 0 };
}

/**
 * @param first the headers that must become attributes, the most important at the beginning; others may not
 * fit
 */
export function awsMessage(
  headers: readonly Header[],
  first: readonly string[],
  body: Uint8Array,
): AwsMessage {
  const { text, isBase64 } = textOf(body);
  const values = headersByName(headers);
  const chosen = [...new Set(first)]
    .flatMap((name): Header[] => {
      const value = values.get(name);
      return value !== undefined && attributeName.test(name) && allowedText.test(value)
        ? [[name, value]]
        : [];
    })
    .slice(0, mostHeaders);
  const attributes = new Map(chosen);
  const others = [...values].filter(([name]) => !attributes.has(name));
  // SQS refuses these two characters.
  const inJson = JSON.stringify(Object.fromEntries(others))
    .replaceAll('\ufffe', '\\ufffe')
    .replaceAll('\uffff', '\\uffff');
  if (others.length > 0) attributes.set(otherHeaders, inJson);
  if (isBase64) attributes.set(bodyEncoding, 'base64');
  return { text, attributes };
}

const attributeType = 'String';

export const sizeOf = ({ text, attributes }: AwsMessage): number =>
  Buffer.byteLength(text) +
  [...attributes].reduce(
    (total, [name, value]) => total + Buffer.byteLength(name + attributeType + value),
    0,
  );

/** The ids that FIFO queues and topics require: up to 128 printable ASCII characters each. */
interface FifoIds {
  readonly groupId: string;
  readonly deduplicationId: string;
}

export const sentParts = ({ attributes }: AwsMessage, fifo: FifoIds | undefined) => ({
  MessageAttributes: Object.fromEntries(
    [...attributes].map(([name, value]) => [name, { DataType: attributeType, StringValue: value }]),
  ),
  MessageGroupId: fifo?.groupId,
  MessageDeduplicationId: fifo?.deduplicationId,
});

const fifoId = /^[\x21-\x7e]{1,128}$/;

/**
 * Messages of one queue or flow-control key, or else of one account, are in order. All attempts of a message
 * have the same deduplication id, so that a repeated attempt is not a second message.
 */
export function fifoIdsOf(message: {
  readonly messageId: string;
  readonly accountId: string;
  readonly queueName?: string | undefined;
  readonly flowControl?: { readonly key: string } | undefined;
}): FifoIds {
  const group = message.queueName ?? message.flowControl?.key ?? message.accountId;
  return {
    groupId: fifoId.test(group) ? group : createHash('sha256').update(group).digest('hex'),
    deduplicationId: message.messageId,
  };
}

/** The parts of a call that sends a message to SQS or SNS. */
export function sentMessage(
  resource: string,
  { headers, body }: { readonly headers: readonly Header[]; readonly body: Uint8Array },
  of: Parameters<typeof fifoIdsOf>[0] & { readonly prefix: string; readonly headers: readonly Header[] },
) {
  const first = [headerName(of.prefix, 'message-id').toLowerCase(), ...of.headers.map(([name]) => name)];
  const message = awsMessage(headers, first, body);
  const fifo = resource.endsWith('.fifo') ? fifoIdsOf(of) : undefined;
  return { text: message.text, parts: sentParts(message, fifo), bytes: sizeOf(message) };
}
