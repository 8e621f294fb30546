/** Settings that reduce the bill. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { mostBatchingWindow, queues } from '../../lambdas/aws/resources.ts';
import { properties, reference, resources, root, synthesizeOne } from './app.ts';
import { type Context, otherValues, tuned } from './variants.ts';

const scaling = z.object({
  MinCapacity: z.number(),
  MaxCapacity: z.number(),
  SeedCapacity: z.number(),
  TargetTrackingScalingPolicyConfiguration: z.object({ TargetValue: z.number() }),
});
const writes = z.object({ WriteCapacityAutoScalingSettings: scaling }).optional();
const reads = z.object({ ReadCapacityAutoScalingSettings: scaling }).optional();
const table = z.object({
  BillingMode: z.string(),
  KeySchema: z.array(z.object({ AttributeName: z.string() })),
  WriteProvisionedThroughputSettings: writes,
  GlobalSecondaryIndexes: z
    .array(z.object({ IndexName: z.string(), WriteProvisionedThroughputSettings: writes }))
    .default([]),
  Replicas: z.array(
    z.object({
      ReadProvisionedThroughputSettings: reads,
      GlobalSecondaryIndexes: z
        .array(z.object({ IndexName: z.string(), ReadProvisionedThroughputSettings: reads }))
        .default([]),
    }),
  ),
});

describe('provisioned capacity', () => {
  const range = (least: number, most: number) => ({
    MinCapacity: least,
    MaxCapacity: most,
    SeedCapacity: least,
    TargetTrackingScalingPolicyConfiguration: { TargetValue: 70 },
  });

  it('is scaled between its bounds, for the table of messages and its index, from the lowest', () => {
    const { state } = synthesizeOne(tuned);
    const [id = ''] = [...resources(state, 'AWS::DynamoDB::GlobalTable').keys()].filter((one) =>
      one.startsWith('Messages'),
    );
    const messages = table.parse(resources(state, 'AWS::DynamoDB::GlobalTable').get(id)?.Properties);
    const write = { WriteCapacityAutoScalingSettings: range(100, 4_000) };
    const read = { ReadCapacityAutoScalingSettings: range(50, 2_000) };
    expect(messages).toMatchObject({
      BillingMode: 'PROVISIONED',
      WriteProvisionedThroughputSettings: write,
      GlobalSecondaryIndexes: [{ IndexName: 'log', WriteProvisionedThroughputSettings: write }],
      Replicas: [
        {
          ReadProvisionedThroughputSettings: read,
          GlobalSecondaryIndexes: [{ IndexName: 'log', ReadProvisionedThroughputSettings: read }],
        },
      ],
    });
    const others = properties(state, 'AWS::DynamoDB::GlobalTable', table).filter(
      ({ BillingMode }) => BillingMode === 'PAY_PER_REQUEST',
    );
    expect(others).toHaveLength(resources(state, 'AWS::DynamoDB::GlobalTable').size - 1);
  });
});

const mapping = z.object({
  EventSourceArn: reference,
  BatchSize: z.number(),
  MaximumBatchingWindowInSeconds: z.number().optional(),
});
const worker = z.object({ Description: z.string(), MemorySize: z.number() });

function workersWith(context: Context) {
  const { service } = synthesizeOne(context);
  const mappings = properties(service, 'AWS::Lambda::EventSourceMapping', mapping).map((one) => ({
    queue: /Short|Long|Slow|Dead/.exec(one.EventSourceArn)?.[0],
    batch: one.BatchSize,
    window: one.MaximumBatchingWindowInSeconds,
  }));
  const memory = properties(service, 'AWS::Lambda::Function', worker)
    .filter(({ Description }) => Description.startsWith('Attempts'))
    .map(({ MemorySize }) => MemorySize);
  return { mappings, memory };
}

describe('a batching window', () => {
  it('applies only to the short queue, whose mapping has none by default, and to that of slow hosts', () => {
    const windows = (context: Context) =>
      workersWith(context)
        .mappings.filter(({ window }) => window !== undefined)
        .map(({ queue, window }) => ({ queue, window }));
    // Larger batches require one.
    const slow = { queue: 'Slow', window: 1 };
    expect(windows({})).toEqual([slow]);
    expect(windows(otherValues)).toEqual([{ queue: 'Short', window: 2 }, slow]);
  });

  it('hides messages for longer', () => {
    const { service } = synthesizeOne(tuned);
    const hidden = properties(service, 'AWS::SQS::Queue', z.object({ VisibilityTimeout: z.number() }));
    // The longest batching window and six times the function's 60 s: "Creating and configuring an Amazon SQS event source
    // mapping".
    expect(hidden.filter(({ VisibilityTimeout }) => VisibilityTimeout === 300 + 6 * 60 + 45)).toHaveLength(1);
    expect(readFileSync(join(root, 'docs/settings.md'), 'utf8')).toContain(
      `before it invokes the delivery function (0 to ${mostBatchingWindow})`,
    );
  });
});

describe('the memory of the delivery functions', () => {
  it.each([
    [tuned, [256, 256, 512, 896], 2, 22],
    [{}, [384, 384, 512, 1_344], 6, 36],
    [otherValues, [1_024, 1_024, 1_024, 3_584], queues.short.batchSize, queues.slow.batchSize],
  ])(
    'with the settings %j is only theirs, and limits what one gets at once',
    (context, memory, most, mostSlow) => {
      const made = workersWith(context);
      expect(made.memory.toSorted((one, other) => one - other)).toEqual(memory);
      const batchOf = (queue: string) => made.mappings.find((one) => one.queue === queue)?.batch;
      expect(batchOf('Short')).toBe(most);
      expect(batchOf('Long')).toBe(Math.min(most, queues.long.batchSize));
      expect(batchOf('Slow')).toBe(mostSlow);
      expect(batchOf('Dead')).toBe(1);
    },
  );
});
