/** Measures how long publishing and delivering take, and the run's usage. */
import * as z from 'zod';
import type { StackResource } from '../../../operate/stackResources.ts';
import { type Check, expectThat } from '../../check.ts';
import { publish } from '../api.ts';
import type { After } from '../context.ts';
import { type Counted, queriesOf, sumsOf } from './metricSums.ts';

/** How many messages are timed, one after another. The first may wait for processes to start. */
const timed = 40;

/** The value that `percent` of the times do not exceed. */
export function percentile(times: readonly number[], percent: number): number {
  const sorted = times.toSorted((one, other) => one - other);
  return sorted[Math.max(0, Math.ceil((percent / 100) * sorted.length) - 1)] ?? NaN;
}

const timesOf = ([first = NaN, ...others]: readonly number[]): string =>
  `first ${Math.round(first)}, then p50 ${Math.round(percentile(others, 50))}, p99 ${Math.round(percentile(others, 99))} ms`;

const created = z.object({ logs: z.array(z.object({ messageId: z.string(), time: z.number() })) });

/** Times publishing by this machine's clock, and delivering, from creation to arrival, by AWS's clocks. */
async function measureLatency({ api: { client }, inbox }: After): Promise<string> {
  const one = inbox('ok');
  const publishing: number[] = [];
  for (let number = 0; number < timed; number += 1) {
    const start = performance.now();
    await publish(client, one.url, { body: String(number), headers: { 'svc-timeout': '20s' } });
    publishing.push(performance.now() - start);
  }
  const received = await one.received(timed);
  const { logs } = await client.read(created, 'GET', '/v2/logs?state=CREATED&count=1000');
  const madeAt = new Map(logs.map(({ messageId, time }) => [messageId, time]));
  const first = new Map(received.toReversed().map(({ messageId, at }) => [messageId, at]));
  const delivering = [...first]
    .map(([messageId, at]) => ({ made: madeAt.get(messageId) ?? NaN, at }))
    .filter(({ made }) => !Number.isNaN(made))
    .toSorted((a, b) => a.made - b.made)
    .map(({ made, at }) => at - made);
  expectThat(
    delivering.length === timed,
    `${timed} messages were sent, ${received.length} arrived, and the log has ${delivering.length}.`,
  );
  return `publishing from here: ${timesOf(publishing)}; delivering: ${timesOf(delivering)}`;
}

const counted: readonly (Counted & { readonly what: string })[] = [
  {
    what: 'invocations',
    type: 'AWS::Lambda::Function',
    namespace: 'AWS/Lambda',
    metric: 'Invocations',
    dimension: 'FunctionName',
  },
  {
    what: 'read units',
    type: 'AWS::DynamoDB::GlobalTable',
    namespace: 'AWS/DynamoDB',
    metric: 'ConsumedReadCapacityUnits',
    dimension: 'TableName',
  },
  {
    what: 'write units',
    type: 'AWS::DynamoDB::GlobalTable',
    namespace: 'AWS/DynamoDB',
    metric: 'ConsumedWriteCapacityUnits',
    dimension: 'TableName',
  },
  {
    what: 'messages sent to SQS',
    type: 'AWS::SQS::Queue',
    namespace: 'AWS/SQS',
    metric: 'NumberOfMessagesSent',
    dimension: 'QueueName',
  },
];

/** CloudWatch queries, one for each resource and metric. */
export const usageQueries = (resources: readonly StackResource[]) => queriesOf(resources, counted);

const stats = z.object({ logs: z.array(z.unknown()) });

/** CloudWatch has AWS's metrics some minutes later. */
const metricsMs = 300_000;

async function countUsage(after: After): Promise<string> {
  const { api, startedAt } = after;
  const { logs } = await api.client.read(stats, 'GET', '/v2/logs?state=CREATED&count=1000');
  const messages = logs.length;
  // Each message is written and sent at least once, unless it is cancelled before.
  const isEnough = (sums: readonly number[]): boolean => sums.every((sum) => sum >= 0.9 * messages);
  const sums = await sumsOf(after, counted, startedAt, isEnough, metricsMs);
  const each = (sum: number): string => (sum / Math.max(1, messages)).toFixed(1);
  return `${messages} messages, callbacks and steps among them; of each: ${counted
    .map(({ what }, kind) => `${each(sums[kind] ?? 0)} ${what}`)
    .join(
      ', ',
    )} (docs/cost.md, a plain message one by one: 2 invocations, 2 read units, 3.2 write units, 1 sent)`;
}

/** Runs alone, before the others. */
export const latency: Check<After> = {
  name: 'latency',
  shows: 'messages are delivered; measures how long publishing and delivering take',
  remedy:
    'Look for the messages in GET /v2/logs. Are the event source mappings enabled, may the functions do what they have to, are all tables and queues there? svc-queue drift shows what was changed.',
  run: measureLatency,
};

/** Runs alone, after the others. */
export const usage: Check<After> = {
  name: 'usage',
  shows: 'counts what the run used, by the metrics of AWS',
  remedy:
    'Look at the metrics in CloudWatch; they may come later than five minutes. Compare with docs/cost.md.',
  notOnEmulator: 'the emulator has no metrics of its services',
  run: countUsage,
};
