/** Events for the measured handlers, as API Gateway and the event source mapping make them. */
import { randomBytes } from 'node:crypto';
import type { Message } from '@aws-sdk/client-sqs';
import type { SQSEvent } from 'aws-lambda';
import { randomFrom } from './simulate/scenario.ts';

const bodyBytes = 1024;

export const jsonBody = Buffer.from(orderEvent(bodyBytes, 0));
export const jsonBodyName = '1 KB of JSON';

/** The bodies, by name in the tables. Random bytes cost most, because they cannot be compressed. */
export const bodies: ReadonlyMap<string, Buffer> = new Map([
  [jsonBodyName, jsonBody],
  ['1 KB of random bytes', randomBytes(bodyBytes)],
]);

/** A body of this many kilobytes: a list of events with different ids and amounts. */
export function jsonBodyOf(kilobytes: number): Buffer {
  if (kilobytes === 1) return jsonBody;
  // Commas and brackets take a byte each.
  const events = Array.from({ length: kilobytes }, (_, at) => orderEvent(bodyBytes - (at === 0 ? 2 : 1), at));
  return Buffer.from(`[${events.join(',')}]`);
}

/** A shop's event, padded to its size in its last text. Each event has different digits. */
function orderEvent(bytes: number, at: number): string {
  const random = randomFrom(at);
  const event = (note: string): string => {
    const text = JSON.stringify({
      id: 'evt_01JCM3Z8W2V5T9K4R7Q6X1B0ND',
      type: 'order.paid',
      created_at: '2026-11-14T09:21:37.482Z',
      api_version: '2026-08-01',
      data: {
        order_id: 'ord_8f3a91c27d',
        currency: 'EUR',
        total: 184.35,
        tax: 29.43,
        customer: { id: 'cus_55d10b7e', email: 'jana.novak@mail.example', locale: 'cs-CZ' },
        shipping: {
          method: 'courier',
          line1: 'Vinohradská 112',
          city: 'Praha',
          zip: '130 00',
          country: 'CZ',
        },
        items: [
          { sku: 'LMP-2041-BK', name: 'Desk lamp, black', quantity: 1, price: 89.9 },
          { sku: 'BLB-0600-WW', name: 'LED bulb 6 W, warm white', quantity: 4, price: 7.25 },
          { sku: 'CBL-0150-TX', name: 'Textile cable 1.5 m', quantity: 3, price: 21.816667 },
        ],
        payment: { provider: 'card', brand: 'visa', last4: '4418', captured: true },
        note,
      },
    });
    // A number must not begin with zero.
    return at === 0 ? text : text.replaceAll(/\d/g, () => String(1 + Math.floor(random() * 9)));
  };
  const note =
    'Please ring twice, the bell of the second door does not work; leave the parcel with the neighbours on the ' +
    'ground floor if nobody opens, and send a text message before you come. If the black lamp should not be in ' +
    'stock any more, the white one is just as good, but please do not send the brass one: it does not fit the desk. ' +
    'Thank you very much.';
  const noteBytes = bytes - Buffer.byteLength(event(''));
  if (noteBytes < 0 || noteBytes > note.length)
    throw new Error(`The note would have to have ${noteBytes} bytes.`);
  return event(note.slice(0, noteBytes));
}

interface ApiRequest {
  readonly token: string;
  /** The route's path, such as `/v2/publish/{destination+}`. */
  readonly route: string;
  readonly pathParameters: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

const pathOf = ({ route, pathParameters }: ApiRequest): string =>
  route.replaceAll(/\{(\w+)\+?\}/g, (_, name: string) => pathParameters[name] ?? '');

const headersOf = ({ token, headers }: ApiRequest, host: string) => ({
  Accept: '*/*',
  Authorization: `Bearer ${token}`,
  'Content-Type': 'application/json',
  Host: host,
  'User-Agent': 'bench/1.0',
  'X-Amzn-Trace-Id': 'Root=1-6737c1a1-2f6b6d0e4b7a8c9d0e1f2a3b',
  'X-Forwarded-For': '203.0.113.7',
  'X-Forwarded-Port': '443',
  'X-Forwarded-Proto': 'https',
  ...headers,
});

/** The fields of API Gateway's proxy event that a real client's request fills. */
export function apiEvent(request: ApiRequest): object {
  const { route, pathParameters, body } = request;
  const path = pathOf(request);
  const headers = headersOf(request, 'abcde12345.execute-api.us-east-1.example');
  return {
    resource: route,
    path,
    httpMethod: 'POST',
    headers,
    multiValueHeaders: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value]])),
    queryStringParameters: null,
    multiValueQueryStringParameters: null,
    pathParameters,
    stageVariables: null,
    requestContext: {
      requestId: 'c6af9ac6-7b61-11e6-9a41-93e8deadbeef',
      domainName: headers.Host,
      path: `/api${path}`,
      identity: { sourceIp: '203.0.113.7' },
    },
    body: body.toString('base64'),
    isBase64Encoded: true,
  };
}

/** The fields of a function URL's event that a real client's request fills. JSON bodies are text there. */
export function urlEvent(request: ApiRequest): object {
  const [path = '', query = ''] = pathOf(request).split('?');
  const host = 'abcdefghijklmnopqrstuvwxyz234567.lambda-url.us-east-1.example';
  const { body } = request;
  return {
    version: '2.0',
    routeKey: '$default',
    rawPath: path,
    rawQueryString: query,
    headers: Object.fromEntries(
      Object.entries({ ...headersOf(request, host), 'Content-Length': String(body.length) }).map(
        ([name, value]) => [name.toLowerCase(), value],
      ),
    ),
    requestContext: {
      requestId: 'c6af9ac6-7b61-11e6-9a41-93e8deadbeef',
      domainName: host,
      http: { method: 'POST', path, protocol: 'HTTP/1.1', sourceIp: '203.0.113.7', userAgent: 'bench/1.0' },
    },
    body: body.toString(),
    isBase64Encoded: false,
  };
}

export function queueEvent(messages: readonly Message[]): SQSEvent {
  return {
    Records: messages.map(({ MessageId = '', ReceiptHandle = '', Body = '', MD5OfBody = '' }) => ({
      messageId: MessageId,
      receiptHandle: ReceiptHandle,
      body: Body,
      attributes: {
        ApproximateReceiveCount: '1',
        SentTimestamp: '1763628097000',
        SenderId: 'AROAEXAMPLE',
        ApproximateFirstReceiveTimestamp: '1763628097003',
      },
      messageAttributes: {},
      md5OfBody: MD5OfBody,
      eventSource: 'aws:sqs',
      eventSourceARN: 'arn:aws:sqs:us-east-1:000000000000:short',
      awsRegion: 'us-east-1',
    })),
  };
}
