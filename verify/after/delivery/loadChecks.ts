/** Checks many messages at once: how they share invocations, how long they take, and whether slow hosts delay others. */
import * as z from 'zod';
import { messagesInMemory } from '../../../lambdas/aws/resources.ts';
import { chunksOf } from '../../../lambdas/shared/lists.ts';
import { type Check, expectThat } from '../../check.ts';
import { logLines } from '../../logs.ts';
import { resourceOf } from '../acts.ts';
import { jsonOf, published } from '../api.ts';
import type { After } from '../context.ts';
import type { Received } from '../receiver/received.ts';
import { percentile } from '../watch/measures.ts';
import { sumsOf } from '../watch/metricSums.ts';

/** A short timeout, so that messages take the short queue. */
const soon = { 'Svc-Timeout': '20s', 'Content-Type': 'text/plain' };

const burst = 2_000;

/** An emulator runs each function as a process on one machine, so there the burst only tests the check itself. */
const emulatedBurst = 100;

/** Messages per request: docs/limits.md. */
const perRequest = 100;

/** The burst may take this many times `--wait`. An account limited to ten concurrent executions needs minutes. */
const drainWaits = 5;

async function publishMany({ api: { client } }: After, url: string, count: number): Promise<void> {
  const items = Array.from({ length: count }, (_, index) => ({
    destination: url,
    headers: soon,
    body: `message ${index}`,
  }));
  await Promise.all(
    chunksOf(items, perRequest).map((batch) =>
      client.read(z.array(published), 'POST', '/v2/batch', jsonOf(batch)),
    ),
  );
}

/** Metrics in a worker's log, written at the end of an invocation; see `lambdas/aws/metrics.ts`. */
const line = z.object({
  Delivered: z.number().default(0),
  Retried: z.number().default(0),
  Failed: z.number().default(0),
});

/** Reads an invocation's number of attempts from a log line; undefined for other lines. */
export function attemptsIn(message: string): number | undefined {
  const start = message.indexOf('{"_aws"');
  if (start < 0) return undefined;
  const { success, data } = line.safeParse(JSON.parse(message.slice(start)));
  const attempts = success ? data.Delivered + data.Retried + data.Failed : 0;
  return attempts > 0 ? attempts : undefined;
}

async function batchesOf({ clients: { logs }, resources }: After, since: number): Promise<readonly number[]> {
  const group = resourceOf({ resources }, /^DeliverShortLog/, 'log of short jobs');
  return (await logLines(logs, group, since, '"_aws"')).flatMap((message) => attemptsIn(message) ?? []);
}

const throttles = {
  type: 'AWS::Lambda::Function',
  namespace: 'AWS/Lambda',
  metric: 'Throttles',
  dimension: 'FunctionName',
} as const;

/** CloudWatch has Lambda's metrics some minutes later. */
const metricMs = 240_000;

/** How often Lambda throttled a function since a moment; undefined if CloudWatch has no data. */
async function countThrottles(after: After, since: number): Promise<number | undefined> {
  if (after.isEmulator) return undefined;
  const [, sum] = await sumsOf(
    after,
    [{ ...throttles, metric: 'Invocations' }, throttles],
    since,
    ([invocations = 0]) => invocations > 0,
    metricMs,
  );
  return sum;
}

const ids = (received: readonly Received[]): ReadonlySet<string> =>
  new Set(received.map(({ messageId }) => messageId));

const slowSeconds = 5;
const slowMessages = 30;
const quickMessages = 60;

/** Judges how long quick hosts' messages took beside a slow host (ms). */
export function judgeQuick(times: readonly number[]): string {
  const [middle, most] = [percentile(times, 50), percentile(times, 99)];
  expectThat(
    middle < slowSeconds * 1_000,
    `Half of the messages of a quick host came after ${Math.round(middle)} ms: they waited for a host that takes ${slowSeconds} s.`,
  );
  return `beside ${slowMessages} messages of a host that takes ${slowSeconds} s, ${times.length} of a quick one came after p50 ${Math.round(middle)}, p99 ${Math.round(most)} ms`;
}

/** These run one after another, so that they don't affect each other's measurements. */
export const loadChecks: readonly Check<After>[] = [
  {
    name: 'burst',
    shows: `a burst of ${burst} messages is delivered; measures the batches, the time and the throttles`,
    remedy:
      'Look for throttles: docs/settings.md, "Room for the API". Where batches are small, a message costs more than under load: docs/cost.md.',
    isSlow: true,
    run: async (after) => {
      const one = after.inbox('ok');
      const count = after.isEmulator ? emulatedBurst : burst;
      const startedAt = Date.now();
      await publishMany(after, one.url, count);
      const publishMs = Date.now() - startedAt;
      let received: readonly Received[] = [];
      for (
        let wanted = count;
        ids(received).size < count;
        wanted = received.length + count - ids(received).size
      )
        received = await one.received(wanted, { waitMs: drainWaits * after.timeout.waitMs });
      const seconds = Math.max(0.1, ((received.at(-1)?.at ?? startedAt) - startedAt) / 1_000);
      const sizes = await batchesOf(after, startedAt);
      const refused = await countThrottles(after, startedAt);
      const mean = sizes.reduce((sum, size) => sum + size, 0) / Math.max(1, sizes.length);
      const most = Math.min(10, messagesInMemory(after.settings.deliveryMemory));
      const batches =
        sizes.length === 0
          ? 'the workers wrote no metrics of their invocations'
          : `${sizes.length} invocations made ${mean.toFixed(1)} attempts on average, ${Math.min(...sizes)} to ${Math.max(...sizes)} (docs/cost.md has the price of 1 and of ${most}, the most with this deliveryMemory)`;
      return [
        `${count} messages were published in ${(publishMs / 1_000).toFixed(1)} s and delivered after ${seconds.toFixed(1)} s, ${Math.round(count / seconds)} a second`,
        `${received.length - count} came twice`,
        batches,
        refused === undefined ? 'throttles are untold' : `Lambda throttled ${refused} invocations`,
      ].join('; ');
    },
  },
  {
    name: 'slow-host',
    shows: 'a slow host does not hold up a quick one',
    remedy:
      'Raise deliveryConcurrency, if the account has the executions: docs/settings.md, "Room for the API". A circuit keeps a host that is down from taking them: docs/lanes.md.',
    isSlow: true,
    run: async (after) => {
      const slow = after.inbox(`wait-${slowSeconds}`, 'slow');
      const quick = after.inbox('ok');
      await publishMany(after, slow.url, slowMessages);
      const startedAt = Date.now();
      await publishMany(after, quick.url, quickMessages);
      const received = await quick.received(quickMessages);
      const seen = judgeQuick(received.map(({ at }) => Math.max(0, at - startedAt)));
      await slow.received(slowMessages);
      return seen;
    },
  },
];
