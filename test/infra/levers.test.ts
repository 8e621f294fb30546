/** The settings that make the bill smaller. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { mostBatchingWindow, queues } from '../../lambdas/aws/resources.ts';
import { timing } from '../../lib/state/queues.ts';
import { properties, reference, resources, root, synthesizeOne } from './app.ts';

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

  it('is scaled between its bounds, for the table of messages and its index, from the least on', () => {
    const { state } = synthesizeOne({ writeCapacity: '100-4000', readCapacity: '50-2000' });
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

function workersWith(context: Readonly<Record<string, string>>) {
  const { service } = synthesizeOne(context);
  const mappings = properties(service, 'AWS::Lambda::EventSourceMapping', mapping).map((one) => ({
    queue: /Short|Long|Dead/.exec(one.EventSourceArn)?.[0],
    batch: one.BatchSize,
    window: one.MaximumBatchingWindowInSeconds,
  }));
  const memory = properties(service, 'AWS::Lambda::Function', worker)
    .filter(({ Description }) => Description.startsWith('Attempts'))
    .map(({ MemorySize }) => MemorySize);
  return { mappings, memory };
}

describe('a batching window', () => {
  it('is that of the short queue only, whose mapping has none by default', () => {
    const windows = (context: Readonly<Record<string, string>>) =>
      workersWith(context)
        .mappings.filter(({ window }) => window !== undefined)
        .map(({ queue, window }) => ({ queue, window }));
    expect(windows({})).toEqual([]);
    expect(windows({ batchingWindow: '1' })).toEqual([{ queue: 'Short', window: 1 }]);
  });

  it('and the function together end before a message is visible again, at most', () => {
    const { timeout, visibility } = timing.short;
    expect(mostBatchingWindow).toBeGreaterThanOrEqual(1);
    expect(mostBatchingWindow + timeout.toSeconds()).toBeLessThanOrEqual(visibility.toSeconds());
    expect(readFileSync(join(root, 'docs/settings.md'), 'utf8')).toContain(
      `before it invokes the delivery function (0 to ${mostBatchingWindow})`,
    );
  });
});

describe('the memory of the delivery functions', () => {
  it.each([
    ['256', [256, 256, 512], 2],
    ['512', [512, 512, 512], queues.short.batchSize],
    ['1024', [1_024, 1_024, 1_024], queues.short.batchSize],
  ])('of %s MB is theirs alone, and bounds what one gets at once', (deliveryMemory, memory, most) => {
    const made = workersWith({ deliveryMemory });
    expect(made.memory.toSorted((one, other) => one - other)).toEqual(memory);
    const batchOf = (queue: string) => made.mappings.find((one) => one.queue === queue)?.batch;
    expect(batchOf('Short')).toBe(most);
    expect(batchOf('Long')).toBe(Math.min(most, queues.long.batchSize));
    expect(batchOf('Dead')).toBe(1);
  });
});
