import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { mostFaults } from '../../lambdas/job/redelivery.ts';
import { alarmList, type AlarmName } from '../../lib/monitoring/alarmTable.ts';
import {
  answerOf,
  openMetricFixture,
  switchMetricsOn,
  type MetricFixture,
} from '../support/metricFixture.ts';
import { metricLines, metricValues } from '../support/metrics.ts';
import { useFixture } from '../support/useFixture.ts';
import type { Fixture } from '../support/fixture.ts';

/** Triggers each alarm on our own metrics, and compares the metric with its threshold. */

switchMetricsOn();
let fixture: Fixture;
let metricFixture: MetricFixture;
useFixture(
  async (opened) => {
    fixture = opened;
    metricFixture = await openMetricFixture(fixture);
  },
  { overHttp: true },
);
beforeEach(async () => {
  // The SDK pauses between its tries for a random part of a second.
  vi.spyOn(Math, 'random').mockReturnValue(0);
  await fixture.drain();
  await metricFixture.forget();
});
afterEach(() => {
  vi.restoreAllMocks();
});

async function published(count: number): Promise<readonly string[]> {
  const { url } = fixture.receiver.inbox();
  for (let number = 0; number < count; number += 1) await fixture.send(url, { timeout: '20s' });
  return metricFixture.take(count);
}

const sideBySide = (count: number, act: () => Promise<unknown>): Promise<unknown> =>
  Promise.all(Array.from({ length: count }, act));

/** Ignores a refused job’s error, which its caller has. Only the counts matter here. */
const regardless = (act: () => Promise<unknown>): (() => Promise<unknown>) =>
  metricFixture.withMetrics(() => act().catch(() => undefined));

const inFreshProcess = async () => {
  vi.resetModules();
  const [secrets, metrics] = await Promise.all([
    import('../../lambdas/account/secrets.ts'),
    import('../../lambdas/aws/metrics.ts'),
  ]);
  return metrics.withMetrics(() => secrets.masterSecret().catch(() => undefined));
};

const conditions: Partial<Record<AlarmName, () => Promise<unknown>>> = {
  WorkFaults: async () => {
    const bodies = await published(1);
    fixture.refuse('QueryCommand');
    await metricFixture.deliver(bodies);
  },
  WorkOutages: async () => {
    const bodies = await published(10);
    await metricFixture.failing('dynamodb', answerOf('InternalServerError', 500), () =>
      metricFixture.deliver(bodies),
    );
  },
  GivenUp: async () => {
    const [body = ''] = await published(1);
    const failed: unknown = { ...(JSON.parse(body) as object), faults: mostFaults };
    await metricFixture.deliver([JSON.stringify(failed)]);
  },
  Lateness: async () => {
    const bodies = await published(1);
    const { now } = Date;
    vi.spyOn(Date, 'now').mockImplementation(() => now() + 60_000);
    await metricFixture.deliver(bodies);
  },
  SecretsErrors: async () => {
    const secrets = fixture.standIns.secretValues;
    const secret = secrets.get('master-secret') ?? '';
    secrets.delete('master-secret');
    try {
      await (
        await inFreshProcess()
      )();
    } finally {
      secrets.set('master-secret', secret);
    }
  },
  AwsErrors: async () => {
    const bodies = await published(10);
    await metricFixture.failing('dynamodb', answerOf('InternalServerError', 500), () =>
      metricFixture.deliver(bodies),
    );
  },
  AwsThrottles: () =>
    metricFixture.failing('sqs', answerOf('RequestThrottled', 400), () =>
      sideBySide(
        3,
        regardless(() => fixture.send(fixture.receiver.inbox().url)),
      ),
    ),
  BudgetReached: async () => {
    const account = { ...fixture.account, id: 'acct-poor', budget: 0.000_001 };
    const { publishRequest } = fixture;
    const { requestOf } = await import('../support/fixture.ts');
    await regardless(() => publishRequest(account, requestOf('https://example.com/')))();
  },
};

const own = alarmList.filter(([, { own: watched }]) => watched !== undefined);

describe('an alarm on our own metrics', () => {
  it('has a condition here', () => {
    expect(Object.keys(conditions).sort()).toEqual(own.map(([name]) => name).sort());
  });

  it.each(own)('%s: its metric crosses its threshold', async (name, { own: watched, atLeast, statistic }) => {
    const values = metricValues(await metricLines(async () => conditions[name]?.()));
    const found = values.get(watched ?? '') ?? [];
    const total = found.reduce((sum, one) => sum + one, 0);
    expect(statistic === undefined ? total : Math.min(...found)).toBeGreaterThanOrEqual(atLeast);
  });

  it('does not react to messages that are accepted and delivered', async () => {
    const values = metricValues(
      await metricLines(async () => {
        await metricFixture.deliver(await published(10));
      }),
    );
    expect([...values.keys()].sort()).toEqual([
      'Accepted',
      'Delivered',
      'DestinationTime',
      'FirstAttemptDelay',
      'Lateness',
    ]);
  });
});
