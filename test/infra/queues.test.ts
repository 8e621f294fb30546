import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { longTimeoutMs, maxReceives, shortTimeoutMs } from '../../lambdas/aws/resources.ts';
import {
  aliasReference,
  joined,
  properties,
  reference,
  resources,
  root,
  synthesize,
  synthesizeOne,
} from './app.ts';
import { elsewhere, otherValues, tuned } from './variants.ts';

const { service } = synthesizeOne();

const queueShape = z.object({
  VisibilityTimeout: z.number(),
  MessageRetentionPeriod: z.number(),
  SqsManagedSseEnabled: z.literal(true),
  FifoQueue: z.number().optional(),
  RedrivePolicy: z.object({ deadLetterTargetArn: reference, maxReceiveCount: z.number() }).optional(),
});

function queue(name: string) {
  for (const [id, { Properties }] of resources(service, 'AWS::SQS::Queue')) {
    if (id.includes(name)) return { id, ...queueShape.parse(Properties) };
  }
  throw new Error(`There is no queue ${name}.`);
}

const functionOfAlias = (id: string): string =>
  z.object({ FunctionName: reference }).parse(resources(service, 'AWS::Lambda::Alias').get(id)?.Properties)
    .FunctionName;

const mappings = properties(
  service,
  'AWS::Lambda::EventSourceMapping',
  z.object({
    EventSourceArn: reference,
    FunctionName: aliasReference.transform((alias) => functionOfAlias(alias)),
    BatchSize: z.number(),
    MaximumBatchingWindowInSeconds: z.number().optional(),
    FunctionResponseTypes: z.array(z.string()),
    ScalingConfig: z.object({ MaximumConcurrency: z.number() }).optional(),
  }),
);

function workerOf(queueId: string) {
  const mapping = mappings.find(({ EventSourceArn }) => EventSourceArn === queueId);
  const found = resources(service, 'AWS::Lambda::Function').get(mapping?.FunctionName ?? '');
  return z.object({ Timeout: z.number() }).parse(found?.Properties);
}

describe('the queues', () => {
  it.each<[string, number]>([
    ['Short', shortTimeoutMs],
    ['Long', longTimeoutMs],
    ['Slow', longTimeoutMs],
    ['Dead', longTimeoutMs],
    ['QueuesFire', 0],
    ['AccountChanges', 0],
  ])(
    '%s: an answer is waited for (%s ms) within the time of the function, and that ends before the work is seen again',
    (name, longestWaitMs) => {
      const { id, VisibilityTimeout } = queue(name);
      const { Timeout } = workerOf(id);
      // Reading and recording take time too.
      expect(Timeout * 1_000).toBeGreaterThanOrEqual(longestWaitMs + 20_000);
      // "Creating and configuring an Amazon SQS event source mapping" in Lambda's guide: six times the function's timeout, plus
      // the batching window.
      expect(VisibilityTimeout).toBeGreaterThanOrEqual(6 * Timeout + (name === 'Slow' ? 1 : 0));
      // Even if throttled for an hour, no message counts as one that kills its workers.
      expect((maxReceives - 1) * VisibilityTimeout).toBeGreaterThan(3_600);
    },
  );

  it.each(['Short', 'Long', 'Slow'])(
    '%s moves jobs whose workers never finished to the queue of jobs that run alone',
    (name) => {
      expect(queue(name).RedrivePolicy).toEqual({
        deadLetterTargetArn: queue('Dead').id,
        maxReceiveCount: maxReceives,
      });
    },
  );

  it('give up nothing else, however often Lambda receives it and has no room for it', () => {
    for (const name of ['Dead', 'QueuesFire', 'AccountChanges', 'UndeliveredFires', 'Parked']) {
      expect(queue(name).RedrivePolicy).toBeUndefined();
    }
  });

  it('keep jobs for as long as SQS can, including dead ones', () => {
    for (const { MessageRetentionPeriod } of properties(service, 'AWS::SQS::Queue', queueShape))
      expect(MessageRetentionPeriod).toBe(14 * 24 * 60 * 60);
  });

  it('are encrypted and refuse everything without TLS', () => {
    expect(resources(service, 'AWS::SQS::Queue').size).toBe(8);
    const denied = properties(
      service,
      'AWS::SQS::QueuePolicy',
      z.object({
        Queues: z.array(reference),
        PolicyDocument: z.object({
          Statement: z.tuple([
            z.object({
              Effect: z.literal('Deny'),
              Action: z.literal('sqs:*'),
              Condition: z.object({ Bool: z.object({ 'aws:SecureTransport': z.literal('false') }) }),
            }),
          ]),
        }),
      }),
    ).flatMap(({ Queues }) => Queues);
    expect(denied.sort()).toEqual([...resources(service, 'AWS::SQS::Queue').keys()].sort());
  });

  it('invoke their functions at once, in batches of which each message succeeds or fails separately', () => {
    expect(mappings).toHaveLength(6);
    for (const mapping of mappings) {
      const isSlow = queue('Slow').id === mapping.EventSourceArn;
      const isAlone = !['Short', 'Long'].some((name) => queue(name).id === mapping.EventSourceArn);
      expect(mapping).toMatchObject({
        BatchSize: isSlow ? 36 : isAlone ? 1 : 6,
        // "When you set BatchSize to a value greater than 10, you must set MaximumBatchingWindowInSeconds to at least 1"
        // (Lambda's API).
        ...(isSlow && { MaximumBatchingWindowInSeconds: 1 }),
        FunctionResponseTypes: ['ReportBatchItemFailures'],
      });
    }
  });

  it.each([
    [{}, 200, {}],
    [tuned, 20, { QueuesFire: 20 }],
    [otherValues, 2, { QueuesFire: 2, AccountChanges: 2 }],
  ])(
    'with the settings %j invoke at most %d of each delivery function at once, and limit the others only in small accounts',
    (context, most, others) => {
      const template = synthesizeOne(context).service;
      const limited = properties(
        template,
        'AWS::Lambda::EventSourceMapping',
        z.object({
          EventSourceArn: reference,
          ScalingConfig: z.object({ MaximumConcurrency: z.number() }).optional(),
        }),
      ).filter(({ ScalingConfig }) => ScalingConfig !== undefined);
      expect(
        new Map(
          limited.map(({ EventSourceArn, ScalingConfig }) => [
            EventSourceArn,
            ScalingConfig?.MaximumConcurrency,
          ]),
        ),
      ).toEqual(
        new Map([
          [queue('Short').id, most],
          [queue('Long').id, most],
          [queue('Slow').id, most],
          [queue('Dead').id, Math.min(most, 20)],
          ...Object.entries(others).map(([name, limit]) => [queue(name).id, limit] as const),
        ]),
      );
    },
  );

  it('leave the API of an AWS account with 1,000 concurrent executions enough room, as docs/settings.md says', () => {
    const mostOf = (all: typeof mappings): number =>
      all.reduce((sum, { ScalingConfig }) => sum + (ScalingConfig?.MaximumConcurrency ?? Infinity), 0);
    const deliveries = ['Short', 'Long', 'Slow', 'Dead'].map((name) => queue(name).id);
    expect(
      1_000 - mostOf(mappings.filter((one) => deliveries.includes(one.EventSourceArn))),
    ).toBeGreaterThanOrEqual(350);
    // Fires and changes of accounts have no maximum: see `isBoundedBySource`.
    const all = mostOf(mappings.filter(({ ScalingConfig }) => ScalingConfig !== undefined));
    expect(readFileSync(join(root, 'docs/settings.md'), 'utf8')).toContain(
      `By default that is ${all} at most, which leaves ${1_000 - all}`,
    );
    expect(1_000 - all).toBeGreaterThanOrEqual(350);
  });
});

describe('the queue of accounts that were changed', () => {
  it('has the same name in every region, and no other queue has a fixed name', () => {
    for (const { service: of } of synthesize(elsewhere).regions) {
      const names = [...resources(of, 'AWS::SQS::Queue').values()].map(
        ({ Properties }) => Properties['QueueName'],
      );
      expect(names.filter((name) => name !== undefined)).toEqual(['Queue-account-changes']);
    }
  });

  it('of each region is known to every function, the first region’s first', () => {
    const { regions, management } = synthesize();
    const shape = z.object({
      Environment: z.object({ Variables: z.object({ ACCOUNT_CHANGES_QUEUES: joined }) }),
    });
    const queues = [...regions.map(({ service: of }) => of), management]
      .flatMap((template) => properties(template, 'AWS::Lambda::Function', shape))
      .map(({ Environment }) => Environment.Variables.ACCOUNT_CHANGES_QUEUES);
    expect(queues.length).toBeGreaterThan(20);
    expect([...new Set(queues)]).toEqual([
      JSON.stringify({
        'eu-central-1': 'https://sqs.eu-central-1.amazonaws.com/111122223333/Svc-account-changes',
        'us-east-1': 'https://sqs.us-east-1.amazonaws.com/111122223333/Svc-account-changes',
      }),
    ]);
  });
});
