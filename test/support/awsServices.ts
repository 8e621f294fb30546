/** Servers on this machine that speak the protocols of SQS, SNS and EventBridge and keep what they receive. */
import { randomUUID } from 'node:crypto';
import * as z from 'zod/mini';
import { close, listen, readBody } from '../../local/http.ts';

/** A message that a queue or a topic received, or an event that a bus received. */
export interface Arrived {
  /** The URL of a queue, the ARN of a topic or a bus. */
  readonly to: string;
  readonly text: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly groupId: string | undefined;
  readonly deduplicationId: string | undefined;
  /** Only for events. */
  readonly source: string | undefined;
  readonly detailType: string | undefined;
}

/** A refusal in the service’s words. EventBridge refuses an entry in an answer of status 200. */
export class Refused extends Error {
  readonly status: number;
  readonly code: string;
  readonly isOfEntry: boolean;

  constructor(status: number, code: string, message: string, isOfEntry = false) {
    super(message);
    this.status = status;
    this.code = code;
    this.isOfEntry = isOfEntry;
  }
}

type Arrive = (arrived: Arrived) => void | Promise<void>;

const nothing = { groupId: undefined, deduplicationId: undefined, source: undefined, detailType: undefined };

const sentMessage = z.object({
  QueueUrl: z.string(),
  MessageBody: z.string(),
  MessageAttributes: z._default(
    z.record(z.string(), z.object({ DataType: z.literal('String'), StringValue: z.string() })),
    {},
  ),
  MessageGroupId: z.optional(z.string()),
  MessageDeduplicationId: z.optional(z.string()),
});

function fromSqs(body: Buffer): Arrived {
  const sent = sentMessage.parse(JSON.parse(body.toString('utf8')));
  return {
    ...nothing,
    to: sent.QueueUrl,
    text: sent.MessageBody,
    attributes: Object.fromEntries(
      Object.entries(sent.MessageAttributes).map(([name, { StringValue }]) => [name, StringValue]),
    ),
    groupId: sent.MessageGroupId,
    deduplicationId: sent.MessageDeduplicationId,
  };
}

function fromSns(body: Buffer): Arrived {
  const form = new URLSearchParams(body.toString('utf8'));
  const attributes: [string, string][] = [];
  for (let at = 1; form.has(`MessageAttributes.entry.${at}.Name`); at += 1) {
    const entry = `MessageAttributes.entry.${at}`;
    attributes.push([form.get(`${entry}.Name`) ?? '', form.get(`${entry}.Value.StringValue`) ?? '']);
  }
  return {
    ...nothing,
    to: form.get('TopicArn') ?? '',
    text: form.get('Message') ?? '',
    attributes: Object.fromEntries(attributes),
    groupId: form.get('MessageGroupId') ?? undefined,
    deduplicationId: form.get('MessageDeduplicationId') ?? undefined,
  };
}

const putEvents = z.object({
  Entries: z.tuple([
    z.object({
      EventBusName: z.string(),
      Source: z.string(),
      DetailType: z.string(),
      Detail: z.string(),
    }),
  ]),
});

function fromEventBridge(body: Buffer): Arrived {
  const [entry] = putEvents.parse(JSON.parse(body.toString('utf8'))).Entries;
  return {
    ...nothing,
    to: entry.EventBusName,
    text: entry.Detail,
    attributes: {},
    source: entry.Source,
    detailType: entry.DetailType,
  };
}

/** Refuses messages that SQS and SNS would refuse. */
function checkMessage({ to, text, attributes, groupId, deduplicationId }: Arrived): void {
  const invalid = (message: string) => new Refused(400, 'InvalidParameterValue', message);
  if (text === '') throw invalid('The message is empty.');
  if (Object.keys(attributes).length > 10) throw invalid('There are more than 10 attributes.');
  if (Object.values(attributes).includes('')) throw invalid('An attribute is empty.');
  const ids = [groupId, deduplicationId];
  const isFifo = to.endsWith('.fifo');
  if (ids.some((id) => (id !== undefined) !== isFifo || id === ''))
    throw invalid('The ids are those of FIFO queues.');
}

const bytesOf = (texts: readonly string[]): number => Buffer.byteLength(texts.join(''));

/** A topic's attribute `MaximumMessageSize` is the default, except for topics whose names begin with "orders-large". */
function checkPublished(arrived: Arrived): void {
  checkMessage(arrived);
  const { to, text, attributes } = arrived;
  const most = to.includes(':orders-large') ? 1_048_576 : 262_144;
  const pairs = Object.entries(attributes).map(([name, value]) => bytesOf([name, 'String', value]));
  if (pairs.reduce((sum, bytes) => sum + bytes, bytesOf([text])) > most)
    throw new Refused(400, 'InvalidParameter', 'Invalid parameter: Message too long');
}

const jsonError = ({ code, message }: Refused) =>
  JSON.stringify({ __type: `com.amazonaws#${code}`, message });

const services = {
  sqs: {
    read: fromSqs,
    check: checkMessage,
    taken: (id: string) => JSON.stringify({ MessageId: id }),
    refused: jsonError,
  },
  sns: {
    read: fromSns,
    check: checkPublished,
    taken: (id: string) =>
      `<PublishResponse xmlns="http://sns.amazonaws.com/doc/2010-03-31/"><PublishResult><MessageId>${id}</MessageId></PublishResult></PublishResponse>`,
    refused: ({ code, message }: Refused) =>
      `<ErrorResponse xmlns="http://sns.amazonaws.com/doc/2010-03-31/"><Error><Type>Sender</Type><Code>${code}</Code><Message>${message}</Message></Error></ErrorResponse>`,
  },
  events: {
    read: fromEventBridge,
    check: ({ text }: Arrived) => void z.record(z.string(), z.unknown()).parse(JSON.parse(text)),
    taken: (id: string) => JSON.stringify({ FailedEntryCount: 0, Entries: [{ EventId: id }] }),
    refused: (error: Refused) =>
      error.isOfEntry
        ? JSON.stringify({
            FailedEntryCount: 1,
            Entries: [{ ErrorCode: error.code, ErrorMessage: error.message }],
          })
        : jsonError(error),
  },
} as const;

/**
 * Starts a service.
 *
 * @param arrive handles each message; it may throw `Refused`
 */
export async function startAwsService(service: keyof typeof services, arrive: Arrive) {
  const { read, check, taken, refused } = services[service];
  const { server, url } = await listen((request, response) => {
    void (async () => {
      const body = await readBody(request);
      try {
        const arrived = read(body);
        check(arrived);
        await arrive(arrived);
        response.writeHead(200, { 'x-amzn-requestid': randomUUID() }).end(taken(randomUUID()));
      } catch (error) {
        const answer = error instanceof Refused ? error : new Refused(500, 'InternalFailure', String(error));
        response.writeHead(answer.status).end(refused(answer));
      }
    })();
  });
  return { url, close: () => close(server) };
}
