/** Amazon SQS for the local stage: the AWS JSON 1.0 protocol over `Queues`. */
import { createHash, randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import * as z from 'zod/mini';
import { answerJson, close, listen, readOperation } from './http.ts';
import type { Journal } from './journal.ts';
import { Queues, isReceipt, type QueueShape, type Received } from './queues.ts';

/** The account that everything here belongs to, as emulators use. */
export const accountId = '000000000000';

export interface Sqs {
  readonly url: string;
  queueUrl(name: string): string;
  /**
   * Keeps a message, and only then returns.
   *
   * @throws SqsError when the queue refuses it
   */
  send(queue: string, body: string, groupId: string | undefined): void;
  /** When a timer or a visibility timeout of the queue ends next, in epoch milliseconds. */
  nextDue(queue: string): number | undefined;
  /** Names each message that could be received or is in flight, anew with every receive. */
  unsettled(queue: string): string[];
  /** Looks at the clock again, after it has jumped. */
  wake(): void;
  readonly close: () => Promise<void>;
}

export interface SqsOptions {
  readonly queues: readonly QueueShape[];
  readonly region: string;
  readonly journal: Journal;
  /** Epoch milliseconds. */
  readonly now: () => number;
  readonly report: (error: unknown) => void;
}

export async function startSqs({ queues: shapes, region, journal, now, report }: SqsOptions): Promise<Sqs> {
  const queues = new Queues(shapes, journal, now);
  const { server, url } = await listen((request, response) => {
    answer(request, response).catch((error: unknown) => {
      report(error);
      if (response.headersSent) response.destroy();
      else refuse(response, new SqsError('InternalFailure', 'The queues failed.', 500));
    });
  });
  const queueUrl = (name: string): string => `${url}/${accountId}/${name}`;
  const stage: StageOfQueues = { queues, region, queueUrl };

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const gone = new AbortController();
    response.once('close', () => {
      gone.abort();
    });
    const operation = await readOperation(request);
    const action = operation === undefined ? undefined : actions.get(operation.name);
    try {
      if (operation === undefined || action === undefined) {
        throw new SqsError(
          'UnsupportedOperation',
          `The local stage has no operation ${operation?.name ?? 'of this form'}.`,
        );
      }
      const output = await action({ ...stage, signal: gone.signal }, operation.input);
      answerJson(response, 200, contentType, output, { 'x-amzn-requestid': randomUUID() });
    } catch (error) {
      if (!(error instanceof SqsError)) throw error;
      refuse(response, error);
    }
  }

  return {
    url,
    queueUrl,
    send: (queue, body, groupId) => {
      if (!queues.has(queue)) throw noSuchQueue();
      checkBody(body);
      queues.send(queue, [toOutgoing({ MessageBody: body, MessageGroupId: groupId })]);
    },
    nextDue: (queue) => queues.nextDue(queue),
    unsettled: (queue) => queues.unsettled(queue),
    wake: () => {
      queues.wake();
    },
    close: async () => {
      queues.close();
      await close(server);
    },
  };
}

const contentType = 'application/x-amz-json-1.0';

/** A refusal in SQS's own words: `code` is the exception's name in the SDK. */
export class SqsError extends Error {
  readonly code: string;
  readonly status: number;

  constructor(code: string, message: string, status = 400) {
    super(message);
    this.code = code;
    this.status = status;
  }
}

function refuse(response: ServerResponse, { code, message, status }: SqsError): void {
  const body = { __type: `com.amazonaws.sqs#${code}`, message };
  answerJson(response, status, contentType, body, { 'x-amzn-requestid': randomUUID() });
}

interface StageOfQueues {
  readonly queues: Queues;
  readonly region: string;
  readonly queueUrl: (name: string) => string;
}

interface Call extends StageOfQueues {
  /** Aborted when the client has hung up. */
  readonly signal: AbortSignal;
}

type Action = (call: Call, input: unknown) => unknown;

/** An action whose input is checked first. */
function action<Schema extends z.ZodMiniType>(
  schema: Schema,
  run: (call: Call, input: z.infer<Schema>) => unknown,
): Action {
  return (call, input) => {
    const parsed = schema.safeParse(input);
    if (!parsed.success) throw new SqsError('InvalidParameterValue', z.prettifyError(parsed.error));
    return run(call, parsed.data);
  };
}

/** The longest body, and the longest batch of them, in bytes. */
const maxBytes = 1_048_576;
const maxDelayS = 900;

const outgoing = {
  MessageBody: z.string(),
  DelaySeconds: z.optional(z.int()),
  MessageGroupId: z.optional(z.string().check(z.minLength(1), z.maxLength(128))),
  MessageAttributes: z.optional(z.record(z.string(), z.never('the local stage keeps no message attributes'))),
};
const onQueue = { QueueUrl: z.string() };
const batch = <Entry extends z.ZodMiniType>(
  entry: Entry,
): z.ZodMiniObject<{ QueueUrl: z.ZodMiniString; Entries: z.ZodMiniArray<Entry> }> =>
  z.object({ ...onQueue, Entries: z.array(entry) });
const visibilityTimeout = z.int().check(z.gte(0), z.lte(43_200));

const actions = new Map<string, Action>([
  [
    'SendMessage',
    action(z.object({ ...onQueue, ...outgoing }), ({ queues }, message) => {
      const name = queueOf(queues, message.QueueUrl);
      checkBody(message.MessageBody);
      const [id] = queues.send(name, [toOutgoing(message)]);
      return { MessageId: id, MD5OfMessageBody: md5(message.MessageBody) };
    }),
  ],
  [
    'SendMessageBatch',
    action(batch(z.object({ Id: z.string(), ...outgoing })), ({ queues }, { QueueUrl, Entries }) => {
      const name = queueOf(queues, QueueUrl);
      checkBatch(Entries);
      checkBody(Entries.map((entry) => entry.MessageBody).join(''), 'BatchRequestTooLong');
      const { done, Failed } = sift(Entries, toOutgoing);
      const ids = queues.send(
        name,
        done.map(({ value }) => value),
      );
      const Successful = done.map(({ entry }, index) => ({
        Id: entry.Id,
        MessageId: ids[index],
        MD5OfMessageBody: md5(entry.MessageBody),
      }));
      return { Successful, Failed };
    }),
  ],
  [
    'ReceiveMessage',
    action(
      z.object({
        ...onQueue,
        MaxNumberOfMessages: z.optional(z.int().check(z.gte(1), z.lte(10))),
        VisibilityTimeout: z.optional(visibilityTimeout),
        WaitTimeSeconds: z.optional(z.int().check(z.gte(0), z.lte(20))),
        AttributeNames: z.optional(z.array(z.string())),
        MessageSystemAttributeNames: z.optional(z.array(z.string())),
      }),
      async ({ queues, region, signal }, input) => {
        const received = await queues.receive(queueOf(queues, input.QueueUrl), {
          max: input.MaxNumberOfMessages ?? 1,
          waitMs: 1000 * (input.WaitTimeSeconds ?? 0),
          visibilityTimeoutMs:
            input.VisibilityTimeout === undefined ? undefined : 1000 * input.VisibilityTimeout,
          signal,
        });
        const wanted = new Set([
          ...(input.AttributeNames ?? []),
          ...(input.MessageSystemAttributeNames ?? []),
        ]);
        return { Messages: received.map((message) => toWire(message, region, wanted)) };
      },
    ),
  ],
  [
    'DeleteMessage',
    action(z.object({ ...onQueue, ReceiptHandle: z.string() }), ({ queues }, { QueueUrl, ReceiptHandle }) => {
      queueOf(queues, QueueUrl);
      queues.delete([receiptIn({ ReceiptHandle })]);
      return {};
    }),
  ],
  [
    'DeleteMessageBatch',
    action(
      batch(z.object({ Id: z.string(), ReceiptHandle: z.string() })),
      ({ queues }, { QueueUrl, Entries }) => {
        queueOf(queues, QueueUrl);
        checkBatch(Entries);
        const { done, Failed } = sift(Entries, receiptIn);
        queues.delete(done.map(({ value }) => value));
        return { Successful: done.map(({ entry }) => ({ Id: entry.Id })), Failed };
      },
    ),
  ],
  [
    'ChangeMessageVisibility',
    action(
      z.object({ ...onQueue, ReceiptHandle: z.string(), VisibilityTimeout: visibilityTimeout }),
      ({ queues }, input) => {
        queueOf(queues, input.QueueUrl);
        const receipt = receiptIn(input);
        if (queues.receiptState(receipt) !== 'in flight') {
          throw new SqsError(
            'MessageNotInflight',
            'The message is not in flight, so its visibility cannot change.',
          );
        }
        queues.changeVisibility(receipt, 1000 * input.VisibilityTimeout);
        return {};
      },
    ),
  ],
  [
    'GetQueueUrl',
    action(z.object({ QueueName: z.string() }), ({ queues, queueUrl }, { QueueName }) => {
      if (!queues.has(QueueName)) throw noSuchQueue();
      return { QueueUrl: queueUrl(QueueName) };
    }),
  ],
  [
    'GetQueueAttributes',
    action(
      z.object({ ...onQueue, AttributeNames: z.optional(z.array(z.string())) }),
      ({ queues, region }, { QueueUrl, AttributeNames = [] }) => ({
        Attributes: chosen(
          queueAttributes(queues, queueOf(queues, QueueUrl), region),
          new Set(AttributeNames),
        ),
      }),
    ),
  ],
  [
    'PurgeQueue',
    action(z.object(onQueue), ({ queues }, { QueueUrl }) => {
      queues.purge(queueOf(queues, QueueUrl));
      return {};
    }),
  ],
]);

/** The queue that a URL names, whatever its host. */
function queueOf(queues: Queues, queueUrl: string): string {
  const name = queueUrl.slice(queueUrl.lastIndexOf('/') + 1);
  if (!queues.has(name)) throw noSuchQueue();
  return name;
}

function noSuchQueue(): SqsError {
  return new SqsError('QueueDoesNotExist', 'The specified queue does not exist.');
}

function toOutgoing(message: {
  MessageBody: string;
  DelaySeconds?: number | undefined;
  MessageGroupId?: string | undefined;
}): { body: string; delayMs: number; groupId: string | undefined } {
  const delayS = message.DelaySeconds ?? 0;
  if (delayS < 0 || delayS > maxDelayS) {
    throw new SqsError(
      'InvalidParameterValue',
      `Value ${delayS} for parameter DelaySeconds is invalid. Reason: DelaySeconds must be >= 0 and <= ${maxDelayS}.`,
    );
  }
  if (message.MessageBody === '')
    throw new SqsError('MissingParameter', 'The request must contain the parameter MessageBody.');
  return { body: message.MessageBody, delayMs: 1000 * delayS, groupId: message.MessageGroupId };
}

function checkBody(body: string, code = 'InvalidParameterValue'): void {
  if (Buffer.byteLength(body) > maxBytes) {
    throw new SqsError(code, `One or more messages must be shorter than ${maxBytes} bytes.`);
  }
}

function checkBatch(entries: readonly { Id: string }[]): void {
  if (entries.length === 0) throw new SqsError('EmptyBatchRequest', 'The batch has no entries.');
  if (entries.length > 10) {
    throw new SqsError(
      'TooManyEntriesInBatchRequest',
      `A batch has at most 10 entries; this one has ${entries.length}.`,
    );
  }
  if (new Set(entries.map(({ Id }) => Id)).size < entries.length) {
    throw new SqsError('BatchEntryIdsNotDistinct', 'Two entries of the batch have the same Id.');
  }
  if (entries.some(({ Id }) => !/^[\w-]{1,80}$/.test(Id))) {
    throw new SqsError('InvalidBatchEntryId', 'An Id has 1 to 80 letters, digits, hyphens and underscores.');
  }
}

function receiptIn({ ReceiptHandle }: { ReceiptHandle: string }): string {
  if (!isReceipt(ReceiptHandle))
    throw new SqsError('ReceiptHandleIsInvalid', 'The receipt handle is not a valid one.');
  return ReceiptHandle;
}

/** Tells the entries of a batch that are in order from those that are refused one by one. */
function sift<Entry extends { Id: string }, Value>(
  entries: readonly Entry[],
  toValue: (entry: Entry) => Value,
): {
  done: { entry: Entry; value: Value }[];
  Failed: { Id: string; Code: string; Message: string; SenderFault: boolean }[];
} {
  const done: { entry: Entry; value: Value }[] = [];
  const Failed: { Id: string; Code: string; Message: string; SenderFault: boolean }[] = [];
  for (const entry of entries) {
    try {
      done.push({ entry, value: toValue(entry) });
    } catch (error) {
      if (!(error instanceof SqsError)) throw error;
      Failed.push({ Id: entry.Id, Code: error.code, Message: error.message, SenderFault: true });
    }
  }
  return { done, Failed };
}

function toWire(message: Received, region: string, wanted: ReadonlySet<string>): Record<string, unknown> {
  const attributes = {
    SenderId: accountId,
    SentTimestamp: String(message.sentAt),
    ApproximateReceiveCount: String(message.receives),
    ApproximateFirstReceiveTimestamp: String(message.firstReceivedAt),
    ...(message.groupId !== undefined && { MessageGroupId: message.groupId }),
    ...(message.deadLetterSource !== undefined && {
      DeadLetterQueueSourceArn: queueArn(region, message.deadLetterSource),
    }),
  };
  return {
    MessageId: message.id,
    ReceiptHandle: message.receipt,
    Body: message.body,
    MD5OfBody: md5(message.body),
    Attributes: chosen(attributes, wanted),
  };
}

function queueAttributes(queues: Queues, name: string, region: string): Record<string, string> {
  const { visible, delayed, inFlight } = queues.counts(name);
  const { visibilityTimeoutMs, redrive } = queues.shape(name);
  return {
    QueueArn: queueArn(region, name),
    ApproximateNumberOfMessages: String(visible),
    ApproximateNumberOfMessagesDelayed: String(delayed),
    ApproximateNumberOfMessagesNotVisible: String(inFlight),
    VisibilityTimeout: String(visibilityTimeoutMs / 1000),
    ...(redrive && {
      RedrivePolicy: JSON.stringify({
        deadLetterTargetArn: queueArn(region, redrive.deadQueue),
        maxReceiveCount: redrive.maxReceives,
      }),
    }),
  };
}

/** Those attributes that were asked for by name or as `All`. */
function chosen(attributes: Record<string, string>, wanted: ReadonlySet<string>): Record<string, string> {
  if (wanted.has('All')) return attributes;
  return Object.fromEntries(Object.entries(attributes).filter(([name]) => wanted.has(name)));
}

export function queueArn(region: string, name: string): string {
  return `arn:aws:sqs:${region}:${accountId}:${name}`;
}

function md5(text: string): string {
  return createHash('md5').update(text).digest('hex');
}
