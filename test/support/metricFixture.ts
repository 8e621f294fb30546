import { type Message, ReceiveMessageCommand } from '@aws-sdk/client-sqs';
import type { SQSEvent } from 'aws-lambda';
import { metricLines } from './metrics.ts';
import type { Fixture } from './fixture.ts';

/** Makes functions write metrics. Call it before importing modules of `lambdas/`. */
export function switchMetricsOn(): void {
  process.env['POWERTOOLS_METRICS_DISABLED'] = 'false';
}

export const answerOf = (name: string, httpStatusCode: number): Error =>
  Object.assign(new Error(`AWS answered ${name}.`), {
    name,
    $fault: 'server',
    $metadata: { httpStatusCode },
  });

const recordOf = (
  { MessageId = 'id', ReceiptHandle = 'handle', Body = '' }: Message,
  queue: string,
  trace?: string,
) => ({
  messageId: MessageId,
  receiptHandle: ReceiptHandle,
  body: Body,
  attributes: {
    ApproximateReceiveCount: '1',
    SentTimestamp: String(Date.now()),
    SenderId: 'sender',
    ApproximateFirstReceiveTimestamp: String(Date.now()),
    ...(trace !== undefined && { AWSTraceHeader: trace }),
  },
  messageAttributes: {},
  md5OfBody: '',
  eventSource: 'aws:sqs',
  eventSourceARN: `arn:aws:sqs:eu-central-1:000000000000:${queue}`,
  awsRegion: 'eu-central-1',
});

/** The workers' handlers, with clients that can fail below their retries. */
export async function openMetricFixture(fixture: Fixture) {
  const [deliver, fire, metrics] = await Promise.all([
    import('../../lambdas/handlers/deliver.ts'),
    import('../../lambdas/handlers/fire.ts'),
    import('../../lambdas/aws/metrics.ts'),
  ]);
  let failing: { readonly client: string; readonly error: Error } | undefined;
  const failHere = (client: string): void => {
    if (failing?.client === client) throw failing.error;
  };
  const options = { step: 'deserialize', name: 'failing', priority: 'high' } as const;
  fixture.dynamodb.middlewareStack.add(
    (next) => (args) => {
      failHere('dynamodb');
      return next(args);
    },
    options,
  );
  fixture.sqs.middlewareStack.add(
    (next) => (args) => {
      failHere('sqs');
      return next(args);
    },
    options,
  );
  const queueOf = (url: string): string => url.slice(url.lastIndexOf('/') + 1);
  const shortQueue = queueOf(fixture.settings.shortQueueUrl);

  return {
    ...metrics,
    forget: () => metricLines(metrics.withMetrics(() => Promise.resolve())),
    /** Makes every try of a client fail while something runs. */
    failing: async <T>(client: 'dynamodb' | 'sqs', error: Error, act: () => Promise<T>): Promise<T> => {
      failing = { client, error };
      try {
        return await act();
      } finally {
        failing = undefined;
      }
    },
    /** Invokes deliver with these texts, which were sent under a trace. */
    deliver: (bodies: readonly string[], trace?: string) =>
      deliver.handler({
        Records: bodies.map((Body, index) => recordOf({ MessageId: String(index), Body }, shortQueue, trace)),
      } satisfies SQSEvent),
    fire: (text: string) =>
      fire.handler({ Records: [recordOf({ Body: text }, queueOf(fixture.settings.fireQueueUrl))] }),
    /** Takes up to ten texts from the short queue. */
    take: async (count = 1): Promise<readonly string[]> => {
      const bodies: string[] = [];
      while (bodies.length < count) {
        const { Messages = [] } = await fixture.sqs.send(
          new ReceiveMessageCommand({ QueueUrl: fixture.settings.shortQueueUrl, MaxNumberOfMessages: 10 }),
        );
        bodies.push(...Messages.map(({ Body = '' }) => Body));
      }
      return bodies;
    },
  };
}
export type MetricFixture = Awaited<ReturnType<typeof openMetricFixture>>;
