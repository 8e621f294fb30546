/**
 * Lambda's event source mapping for SQS: long polls, batches, a limit of concurrent invocations, and partial batch failures. It
 * calls the queues directly, as it is a part of Lambda and not of the service: SQS over HTTP would cost as much CPU as a handler.
 */
import { once } from 'node:events';
import { setImmediate, setTimeout } from 'node:timers/promises';
import type { SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda';
import * as z from 'zod/mini';
import { leastConcurrency, mostConcurrency } from '../../lambdas/aws/resources.ts';
import { queueArn } from '../aws/arns.ts';
import { md5 } from '../sqs/operations.ts';
import type { Queues, Received } from '../sqs/queues.ts';
import { formatReceipt } from '../sqs/receipt.ts';
import { systemAttributes } from '../sqs/systemAttributes.ts';
import type { LambdaFunction } from './lambda.ts';

export interface EventSource {
  /**
   * Ends the polling; resolves when the invocations in flight have ended, or `signal` aborts. Results after that are ignored: the
   * messages stay in the queue, which may be closed by then.
   */
  stop(signal: AbortSignal): Promise<void>;
}

export interface EventSourceOptions {
  readonly queues: Pick<Queues, 'receive' | 'delete'>;
  readonly queue: string;
  readonly region: string;
  readonly function: LambdaFunction;
  /** The most messages of an invocation; 10, Lambda's default, when absent. */
  readonly batchSize?: number;
  /** The most invocations at the same time, 2 to 1,000; 1,000 when absent. */
  readonly maximumConcurrency?: number | undefined;
  /** The same for a machine that need not follow Lambda's limit of 1,000. */
  readonly mostAtOnce?: number | undefined;
  readonly report: (error: unknown) => void;
  /**
   * Called with the ids of the messages that an invocation has not done. They are visible again when their visibility timeout
   * ends.
   */
  readonly onLeft?: (messageIds: readonly string[]) => void;
}

/** The longest long poll of SQS. */
const pollMs = 20_000;
/** The pause after a poll that failed, for example on a full disk. */
const retryAfterMs = 1000;

/** @throws Error when Lambda would refuse the maximum concurrency */
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
        // Work under way goes on first, including requests to the gateway, so that a long line does not hold it up.
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

async function aborted(signal: AbortSignal): Promise<void> {
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

/**
 * Invokes the function, and deletes the messages that it did not report as failed, unless the event source has stopped by then.
 */
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
 * The ids of the messages that failed. By Lambda's rules no answer or an empty list is success; an unreadable answer, or one that
 * names a message outside the batch, fails the whole batch.
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
    // Few functions look at it.
    get md5OfBody() {
      return md5(message.body);
    },
    eventSource: 'aws:sqs',
    eventSourceARN: queueArn(region, queue),
    awsRegion: region,
  };
}
