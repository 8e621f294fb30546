/** The inputs of SQS operations, with the limits of "Amazon SQS message quotas" in the developer guide. */
import * as z from 'zod/mini';
import { AwsError } from '../aws/awsError.ts';
import { parseReceipt, type Receipt } from './receipt.ts';

/** 1 MiB, the limit of a body and of a whole batch ("Message size"). */
const maxMessageBytes = 1_048_576;
/** 15 minutes, the limit of `DelaySeconds` ("Message timer"). */
const maxDelaySeconds = 900;
/** 12 hours, the limit of `VisibilityTimeout` ("Message visibility timeout"). */
const maxVisibilitySeconds = 43_200;
/** "Batched message ID", `Id`: 80 letters, digits, hyphens and underscores. */
const batchId = /^[\w-]{1,80}$/;
/** The most `Entries` of a batch, and the largest `MaxNumberOfMessages` of a receive. */
const maxBatch = 10;
/** The largest `WaitTimeSeconds` ("Long polling wait time"). */
const maxWaitSeconds = 20;
/** The longest `MessageGroupId`. */
const maxGroupIdLength = 128;

const onQueue = { QueueUrl: z.string() };
const sent = {
  MessageBody: z.string(),
  DelaySeconds: z.optional(z.int()),
  MessageGroupId: z.optional(z.string().check(z.minLength(1), z.maxLength(maxGroupIdLength))),
  MessageAttributes: z.optional(z.record(z.string(), z.never('the local stage keeps no message attributes'))),
};
const receipt = { ReceiptHandle: z.string() };
const inBatch = { Id: z.string() };
const visibilityTimeout = z.int().check(z.gte(0), z.lte(maxVisibilitySeconds));

export const purgeInput = z.object(onQueue);
export const sendInput = z.object({ ...onQueue, ...sent });
export const sendBatchInput = z.object({ ...onQueue, Entries: z.array(z.object({ ...inBatch, ...sent })) });
export const receiveInput = z.object({
  ...onQueue,
  MaxNumberOfMessages: z._default(z.int().check(z.gte(1), z.lte(maxBatch)), 1),
  VisibilityTimeout: z.optional(visibilityTimeout),
  WaitTimeSeconds: z._default(z.int().check(z.gte(0), z.lte(maxWaitSeconds)), 0),
  MessageSystemAttributeNames: z._default(z.array(z.string()), []),
});
export const deleteInput = z.object({ ...onQueue, ...receipt });
export const deleteBatchInput = z.object({
  ...onQueue,
  Entries: z.array(z.object({ ...inBatch, ...receipt })),
});
/** Attributes of a queue that count messages, and the state that each counts. */
export const depthAttributes = {
  ApproximateNumberOfMessages: 'visible',
  ApproximateNumberOfMessagesNotVisible: 'inFlight',
  ApproximateNumberOfMessagesDelayed: 'delayed',
} as const;
export const attributesInput = z.object({
  ...onQueue,
  AttributeNames: z.array(
    z.enum([
      'ApproximateNumberOfMessages',
      'ApproximateNumberOfMessagesNotVisible',
      'ApproximateNumberOfMessagesDelayed',
    ]),
  ),
});
const visibility = { ...receipt, VisibilityTimeout: visibilityTimeout };
export const changeVisibilityInput = z.object({ ...onQueue, ...visibility });
export const changeVisibilityBatchInput = z.object({
  ...onQueue,
  Entries: z.array(z.object({ ...inBatch, ...visibility })),
});

type SendInput = Omit<z.infer<typeof sendInput>, 'QueueUrl'>;

export interface Outgoing {
  readonly body: string;
  readonly delayMs: number;
  readonly groupId: string | undefined;
}

export function toOutgoing({ MessageBody, DelaySeconds = 0, MessageGroupId }: SendInput): Outgoing {
  if (DelaySeconds < 0 || DelaySeconds > maxDelaySeconds) {
    throw new AwsError(
      'InvalidParameterValue',
      `Value ${DelaySeconds} for parameter DelaySeconds is invalid. Reason: DelaySeconds must be >= 0 and <= ${maxDelaySeconds}.`,
    );
  }
  if (MessageBody === '') {
    throw new AwsError('MissingParameter', 'The request must contain the parameter MessageBody.');
  }
  return { body: MessageBody, delayMs: 1000 * DelaySeconds, groupId: MessageGroupId };
}

export function toReceipt(handle: string): Receipt {
  const parsed = parseReceipt(handle);
  if (parsed !== undefined) return parsed;
  throw new AwsError('ReceiptHandleIsInvalid', 'The receipt handle is not a valid one.');
}

/**
 * @param code the error code for a message, or for a batch
 * @throws AwsError
 */
export function checkSize(
  bodies: readonly string[],
  code: 'InvalidParameterValue' | 'BatchRequestTooLong',
): void {
  const bytes = bodies.reduce((sum, body) => sum + Buffer.byteLength(body), 0);
  if (bytes > maxMessageBytes) {
    throw new AwsError(code, `One or more messages must be shorter than ${maxMessageBytes} bytes.`);
  }
}

export function checkBatch(entries: readonly { readonly Id: string }[]): void {
  if (entries.length === 0) throw new AwsError('EmptyBatchRequest', 'The batch has no entries.');
  if (entries.length > maxBatch) {
    throw new AwsError(
      'TooManyEntriesInBatchRequest',
      `A batch has at most ${maxBatch} entries; this one has ${entries.length}.`,
    );
  }
  if (new Set(entries.map(({ Id }) => Id)).size < entries.length) {
    throw new AwsError('BatchEntryIdsNotDistinct', 'Two entries of the batch have the same Id.');
  }
  if (entries.some(({ Id }) => !batchId.test(Id))) {
    throw new AwsError('InvalidBatchEntryId', 'An Id has 1 to 80 letters, digits, hyphens and underscores.');
  }
}
