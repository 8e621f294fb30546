/**
 * The stand-in for Lambda's SQS event source mapping: long polls, batches, limited concurrency, and partial
 * batch failures. It calls queues directly, because HTTP would cost as much CPU as a handler.
 */
import { once } from 'node:events';
import { setImmediate, setTimeout } from 'node:timers/promises';
import type { SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda';
import * as z from 'zod/mini';
import { leastConcurrency, mostConcurrency } from '../../lambdas/aws/resources.ts';
import { queueArn } from '../aws/arns.ts';
import { md5, systemAttributes } from '../sqs/operations.ts';
import type { Queues, Received } from '../sqs/queues.ts';
import { formatReceipt } from '../sqs/receipt.ts';
import type { LambdaFunction } from './lambda.ts';

export interface EventSource {
  /**
   * Stops polling. Resolves when the invocations in flight have ended, or `signal` aborts. If an invocation
   * ends later, its messages stay in the queue, which may be closed by then.
   */
  stop(signal: AbortSignal): Promise<void>;
}

export interface EventSourceOptions {
  readonly queues: Pick<Queues, 'receive' | 'delete'>;
  readonly queue: string;
  readonly region: string;
  readonly function: LambdaFunction;
  /** The most messages per invocation. Default: 10, as in Lambda. */
  readonly batchSize?: number;
  /** The most concurrent invocations, 2 to 1,000. Default: 1,000. */
  readonly maximumConcurrency?: number | undefined;
  /** Replaces `maximumConcurrency`, without Lambda's limit of 1,000. */
  readonly mostAtOnce?: number | undefined;
  readonly report: (error: unknown) => void;
  /**
   * Gets the ids of messages that an invocation did not finish. They become visible again after their
   * timeout.
   */
  readonly onLeft?: (messageIds: readonly string[]) => void;
}

/** The longest long poll of SQS. */
const pollMs = 20_000;
/** The pause after a failed poll, for example on a full disk. */
const retryAfterMs = 1000;

/** @throws Error if Lambda would refuse the maximum concurrency */
export function startEventSource(options: EventSourceOptions): EventSource {
  const { maximumConcurrency = mostConcurrency, mostAtOnce = maximumConcurrency, report } = options;
  if (maximumConcurrency < leastConcurrency || maximumConcurrency > mostConcurrency) {
    throw new Error(
      `The maximum concurrency is ${maximumConcurrency}; Lambda takes ${leastConcurrency} to ${mostConcurrency}.`,
    );
  }
  const stopping = new AbortController();
  const isStopping = (): boolean => stopping.signal.aborted;
  const invocations = new Set<Promise<void>>();
  let isOver = false;
  let onEnd: (() => void) | undefined;

  const start = (messages: readonly Received[]): void => {
    const invocation = handle(options, messages, () => isOver)
      .catch((error: unknown) => {
        if (isOver) return;
        options.onLeft?.(messages.map(({ id }) => id));
        report(error);
      })
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
        // Lets other work, such as requests to the gateway, go first.
        await setImmediate();
        if (invocations.size >= mostAtOnce) await oneEnds();
      } catch (error) {
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
      isOver = true;
    },
  };
}

/** Waits until a signal aborts. */
export async function aborted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await once(signal, 'abort');
}

function receive(
  { queues, queue, batchSize = 10 }: EventSourceOptions,
  signal: AbortSignal,
): Promise<Received[]> {
  return queues.receive(queue, { max: batchSize, waitMs: pollMs, signal });
}

const batchResponse = z.nullish(
  z.object({ batchItemFailures: z.nullish(z.array(z.object({ itemIdentifier: z.string() }))) }),
);

/** Invokes the function, and then deletes the messages that have not failed, unless the event source has stopped. */
async function handle(
  options: EventSourceOptions,
  messages: readonly Received[],
  isOver: () => boolean,
): Promise<void> {
  const event: SQSEvent = { Records: messages.map((message) => toRecord(options, message)) };
  const returned = await options.function.invoke(event);
  if (isOver()) return;
  const failed = failuresIn(returned, messages);
  options.queues.delete(messages.filter(({ id }) => !failed.has(id)).map(({ receipt }) => receipt));
  if (failed.size > 0) options.onLeft?.([...failed]);
}

/**
 * The ids of failed messages. As in Lambda, no answer or an empty list means success; an invalid answer or an
 * unknown id fails the whole batch.
 */
function failuresIn(returned: unknown, messages: readonly Received[]): ReadonlySet<string> {
  const parsed = batchResponse.safeParse(returned);
  if (!parsed.success) throw new Error(`Malformed batch response:\n${z.prettifyError(parsed.error)}`);
  const failures: SQSBatchResponse['batchItemFailures'] = parsed.data?.batchItemFailures ?? [];
  const ids = new Set(messages.map(({ id }) => id));
  const unknown = failures.find(({ itemIdentifier }) => !ids.has(itemIdentifier));
  if (unknown)
    throw new Error(`The batch response names ${unknown.itemIdentifier}, which the batch has not.`);
  return new Set(failures.map(({ itemIdentifier }) => itemIdentifier));
}

function toRecord({ queue, region }: EventSourceOptions, message: Received): SQSRecord {
  return {
    messageId: message.id,
    receiptHandle: formatReceipt(message.receipt),
    body: message.body,
    attributes: systemAttributes(message, region),
    messageAttributes: {},
    get md5OfBody() {
      return md5(message.body);
    },
    eventSource: 'aws:sqs',
    eventSourceARN: queueArn(region, queue),
    awsRegion: region,
  };
}
