/**
 * Lambda's event source mapping for SQS: long polls, batches of up to ten, as many invocations at once as are
 * needed, and partial batch failures.
 */
import { once } from 'node:events';
import { setTimeout } from 'node:timers/promises';
import {
  DeleteMessageBatchCommand,
  ReceiveMessageCommand,
  type Message,
  type SQSClient,
} from '@aws-sdk/client-sqs';
import type { SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda';
import * as z from 'zod/mini';
import type { LambdaFunction } from './lambda.ts';

export interface EventSource {
  /** Polls no more; resolves when the invocations in flight have ended, or `signal` gives them up. */
  stop(signal: AbortSignal): Promise<void>;
}

export interface EventSourceOptions {
  readonly client: SQSClient;
  readonly queueUrl: string;
  readonly queueArn: string;
  readonly region: string;
  readonly function: LambdaFunction;
  /** So many invocations may run at once: a slow batch must not hold back the next. */
  readonly maxInvocations?: number;
  readonly report: (error: unknown) => void;
}

/** How long a poll that failed waits before the next. */
const retryAfterMs = 1000;

export function startEventSource(options: EventSourceOptions): EventSource {
  const { maxInvocations = 500, report } = options;
  const stopping = new AbortController();
  const isStopping = (): boolean => stopping.signal.aborted;
  const invocations = new Set<Promise<void>>();
  let onEnd: (() => void) | undefined;

  const start = (messages: Message[]): void => {
    const invocation = handle(options, messages)
      .catch(report)
      .finally(() => {
        invocations.delete(invocation);
        onEnd?.();
      });
    invocations.add(invocation);
  };
  const oneEnds = (): Promise<void> =>
    new Promise((resolve) => {
      onEnd = resolve;
    });
  const poll = async (): Promise<void> => {
    while (!isStopping()) {
      try {
        const messages = await receive(options, stopping.signal);
        if (messages.length > 0) start(messages);
        if (invocations.size >= maxInvocations) await oneEnds();
      } catch (error) {
        if (isStopping()) return;
        report(error);
        await setTimeout(retryAfterMs);
      }
    }
  };

  const polling = poll();
  return {
    stop: async (signal) => {
      stopping.abort();
      onEnd?.();
      await polling;
      await Promise.race([Promise.all(invocations), aborted(signal)]);
    },
  };
}

async function aborted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await once(signal, 'abort');
}

async function receive(
  { client, queueUrl }: EventSourceOptions,
  abortSignal: AbortSignal,
): Promise<Message[]> {
  const command = new ReceiveMessageCommand({
    QueueUrl: queueUrl,
    MaxNumberOfMessages: 10,
    WaitTimeSeconds: 20,
    MessageSystemAttributeNames: ['All'],
  });
  const { Messages = [] } = await client.send(command, { abortSignal });
  return Messages;
}

const batchResponse = z.nullish(
  z.object({ batchItemFailures: z.nullish(z.array(z.object({ itemIdentifier: z.string() }))) }),
);

/** Calls the function, and deletes what it did not report as failed. What failed is visible again in its time. */
async function handle(options: EventSourceOptions, messages: Message[]): Promise<void> {
  const event: SQSEvent = { Records: messages.map((message) => toRecord(options, message)) };
  const failed = failuresIn(await options.function.invoke(event), event.Records);
  const Entries = event.Records.filter((record) => !failed.has(record.messageId)).map((record, index) => ({
    Id: String(index),
    ReceiptHandle: record.receiptHandle,
  }));
  if (Entries.length === 0) return;
  await options.client.send(new DeleteMessageBatchCommand({ QueueUrl: options.queueUrl, Entries }));
}

/**
 * The ids of the messages that failed, by AWS's rules: no answer or an empty list is success, and an answer that
 * cannot be read, or names a message that is not in the batch, fails them all.
 */
function failuresIn(returned: unknown, records: readonly SQSRecord[]): ReadonlySet<string> {
  const parsed = batchResponse.safeParse(returned);
  if (!parsed.success) throw new Error(`Malformed batch response:\n${z.prettifyError(parsed.error)}`);
  const failures: SQSBatchResponse['batchItemFailures'] = parsed.data?.batchItemFailures ?? [];
  const ids = new Set(records.map((record) => record.messageId));
  const unknown = failures.find(({ itemIdentifier }) => !ids.has(itemIdentifier));
  if (unknown)
    throw new Error(`The batch response names ${unknown.itemIdentifier}, which the batch has not.`);
  return new Set(failures.map(({ itemIdentifier }) => itemIdentifier));
}

const received = z.object({
  MessageId: z.string(),
  ReceiptHandle: z.string(),
  Body: z.string(),
  MD5OfBody: z.string(),
  Attributes: z.object({
    ApproximateReceiveCount: z.string(),
    SentTimestamp: z.string(),
    SenderId: z.string(),
    ApproximateFirstReceiveTimestamp: z.string(),
    MessageGroupId: z.optional(z.string()),
    DeadLetterQueueSourceArn: z.optional(z.string()),
  }),
});

function toRecord({ queueArn, region }: EventSourceOptions, message: Message): SQSRecord {
  const { MessageId, ReceiptHandle, Body, MD5OfBody, Attributes } = received.parse(message);
  return {
    messageId: MessageId,
    receiptHandle: ReceiptHandle,
    body: Body,
    attributes: Attributes,
    messageAttributes: {},
    md5OfBody: MD5OfBody,
    eventSource: 'aws:sqs',
    eventSourceARN: queueArn,
    awsRegion: region,
  };
}
