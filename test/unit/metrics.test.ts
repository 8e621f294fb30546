import type { ServerResponse } from 'node:http';
import type { APIGatewayProxyEvent, Context } from 'aws-lambda';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import * as z from 'zod/mini';
import type { Account } from '../../lambdas/account/account.ts';
import { metricLines, metricSums, metricValues } from '../support/metrics.ts';
import { openMetricFixture, switchMetricsOn, type MetricFixture } from '../support/metricFixture.ts';
import { openRunActs, type RunActs } from '../support/runActs.ts';
import { openRunFixture, resultOf, type RunFixture } from '../support/runFixture.ts';
import { useFixture } from '../support/useFixture.ts';
import { requestOf, type Fixture } from '../support/fixture.ts';

/** Reads metrics from the log, like CloudWatch: what one invocation writes, and what a second adds. */

switchMetricsOn();
let fixture: Fixture;
let metricFixture: MetricFixture;
let runs: RunFixture;
let acts: RunActs;
let lambdas: Awaited<ReturnType<typeof importLambdas>>;
const importLambdas = async () => {
  const [messages, schedules, stored] = await Promise.all([
    import('../../lambdas/publish/cancel.ts'),
    import('../../lambdas/schedule/schedules.ts'),
    import('../../lambdas/schedule/rows.ts'),
  ]);
  return { ...messages, ...schedules, loadSchedule: stored.loadSchedule };
};
useFixture(
  async (opened) => {
    fixture = opened;
    metricFixture = await openMetricFixture(fixture);
    runs = await openRunFixture(fixture);
    acts = await openRunActs(fixture);
    lambdas = await importLambdas();
  },
  { overHttp: true },
);
beforeEach(async () => {
  await fixture.drain();
  await metricFixture.forget();
});

const sumsOf = (act: () => Promise<unknown>) => metricSums(metricFixture.withMetrics(act));

async function jobsOf(...request: Parameters<Fixture['send']>): Promise<readonly string[]> {
  await fixture.send(...request);
  await metricFixture.forget();
  return metricFixture.take();
}

describe('the line of an invocation', () => {
  it('is one for the region, and adds up the invocation’s counts', async () => {
    const [line, ...others] = await metricLines(
      metricFixture.withMetrics(async () => {
        metricFixture.count('Accepted');
        metricFixture.count('Accepted', 2);
        metricFixture.countLargest('LongestLine', 7);
        metricFixture.countLargest('LongestLine', 3);
        metricFixture.measure('Lateness', 12);
        metricFixture.measure('Lateness', -1);
        await Promise.resolve();
      }),
    );
    expect(others).toEqual([]);
    expect(line).toMatchObject({
      service: 'messaging',
      Accepted: 3,
      LongestLine: 7,
      Lateness: [12, 0],
      _aws: {
        CloudWatchMetrics: [
          {
            Namespace: 'Svc',
            Dimensions: [['service']],
            Metrics: [
              { Name: 'Lateness', Unit: 'Milliseconds' },
              { Name: 'Accepted', Unit: 'Count' },
              { Name: 'LongestLine', Unit: 'Count' },
            ],
          },
        ],
      },
    });
  });

  it('is missing if nothing was counted, and excludes earlier invocations’ counts', async () => {
    metricFixture.count('Accepted', 0);
    expect(await metricLines(metricFixture.withMetrics(() => Promise.resolve()))).toEqual([]);
  });

  it('is written even if the invocation fails', async () => {
    const failing = metricFixture.withMetrics(() => {
      metricFixture.count('WorkFaults');
      return Promise.reject(new Error('It fails.'));
    });
    const lines = await metricLines(() => expect(failing()).rejects.toThrow('It fails.'));
    expect(lines).toMatchObject([{ WorkFaults: 1 }]);
  });

  it('is one for a batch of ten deliveries, with ten times of each kind', async () => {
    const { url } = fixture.receiver.inbox();
    for (let number = 0; number < 10; number += 1) await fixture.send(url, { timeout: '20s' });
    const bodies = await metricFixture.take(10);
    const lines = await metricLines(() => metricFixture.deliver(bodies));
    expect(lines).toHaveLength(1);
    const values = metricValues(lines);
    expect(values.get('Delivered')).toEqual([10]);
    for (const name of ['FirstAttemptDelay', 'Lateness', 'DestinationTime']) {
      expect(values.get(name)).toHaveLength(10);
    }
  });
});

describe('messages', () => {
  it('are counted when they are accepted, singly and together', async () => {
    expect(await sumsOf(() => fixture.send('https://example.com/'))).toEqual({ Accepted: 1 });
    const { batch } = await import('../../lambdas/publish/batch.ts');
    const body = Buffer.from(JSON.stringify([1, 2, 3].map(() => ({ destination: 'https://example.com/' }))));
    const request = { body, prefix: 'Svc', callerIp: '127.0.0.1', host: 'api.example.com' } as const;
    expect(await sumsOf(() => batch(fixture.account, request))).toEqual({ Accepted: 3 });
  });

  it('that cannot be stored are not counted', async () => {
    fixture.refuse('PutItemCommand');
    expect(await sumsOf(() => fixture.send('https://example.com/').catch(() => undefined))).toEqual({});
  });

  it('are delivered once, and a redelivered job adds nothing', async () => {
    const bodies = await jobsOf(fixture.receiver.inbox().url, { timeout: '20s' });
    expect(await metricSums(() => metricFixture.deliver(bodies))).toMatchObject({ Delivered: 1 });
    const again = await metricSums(() => metricFixture.deliver(bodies));
    expect(again['Delivered']).toBeUndefined();
    expect(again['DestinationTime']).toBeUndefined();
  });

  it('that are delivered twice at once count once, and are measured twice', async () => {
    // Both requests are open at the destination before either is answered.
    const open: ServerResponse[] = [];
    const inbox = fixture.receiver.inbox((_, response) => {
      if (open.push(response) === 2) for (const answer of open) answer.writeHead(200).end();
    });
    const bodies = await jobsOf(inbox.url, { timeout: '20s' });
    // Both attempts begin and end in the same millisecond.
    vi.spyOn(Date, 'now').mockReturnValue(Date.now());
    const sums = await metricLines(() => metricFixture.deliver([...bodies, ...bodies]));
    const values = metricValues(sums);
    expect(values.get('Delivered')).toEqual([1]);
    expect(values.get('DestinationTime')).toHaveLength(2);
    // The second worker finds the other’s record, which is no outage.
    expect(values.get('WorkOutages')).toBeUndefined();
  });

  it('that fail are retried, then fail, and become dead letters, with callbacks counted separately', async () => {
    const inbox = fixture.receiver.inbox((_, response) => response.writeHead(500).end());
    const callback = fixture.receiver.inbox().url;
    const config = { timeout: '20s', retries: '1', 'retry-delay': '1', callback };
    const first = await jobsOf(inbox.url, config);
    expect(await metricSums(() => metricFixture.deliver(first))).toMatchObject({ Retried: 1, Callbacks: 1 });
    await fixture.drain();

    const last = await jobsOf(inbox.url, { timeout: '20s', retries: '0' });
    expect(await metricSums(() => metricFixture.deliver(last))).toMatchObject({ Failed: 1, DeadLettered: 1 });
    expect((await metricSums(() => metricFixture.deliver(last)))['DeadLettered']).toBeUndefined();
  });

  it('are cancelled once', async () => {
    const messageId = await fixture.send('https://example.com/', { delay: '10m' });
    await metricFixture.forget();
    const cancel = () => lambdas.cancelMessage(fixture.account, messageId).catch(() => undefined);
    expect(await sumsOf(cancel)).toEqual({ Cancelled: 1 });
    expect(await sumsOf(cancel)).toEqual({});
  });

  it('that were delayed have no delay before their first attempt, only lateness', async () => {
    const bodies = await jobsOf(fixture.receiver.inbox().url, { timeout: '20s', delay: '1s' });
    const values = metricValues(await metricLines(() => metricFixture.deliver(bodies)));
    expect(values.has('FirstAttemptDelay')).toBe(false);
  });
});

describe('lanes', () => {
  it('show their longest line', async () => {
    const sums = await sumsOf(async () => {
      for (let number = 0; number < 3; number += 1) await fixture.enqueue('line', 'https://example.com/');
    });
    // One of the three has the slot.
    expect(sums['LongestLine']).toBe(2);
  });

  it('do not count an attempt that waited in a queue as late', async () => {
    await fixture.enqueue('slow', fixture.receiver.inbox().url, { timeout: '20s' });
    const values = metricValues(
      await metricLines(async () => metricFixture.deliver(await metricFixture.take())),
    );
    expect(values.get('FirstAttemptDelay')).toHaveLength(1);
    expect(values.has('Lateness')).toBe(false);
  });
});

describe('schedules', () => {
  const noticeOf = async (scheduleId: string, time: number, accountId = 'acct'): Promise<string> => {
    const schedule = await lambdas.loadSchedule(accountId, scheduleId);
    return JSON.stringify({
      accountId,
      scheduleId,
      saveId: schedule?.saveId,
      time: new Date(time).toISOString(),
    });
  };
  const create = (account: Account, scheduleId: string) =>
    lambdas.createSchedule(
      account,
      requestOf('https://example.com/', { cron: '* * * * *', 'schedule-id': scheduleId }),
    );
  const minute = Date.UTC(2026, 0, 1, 12, 0);

  it('count a fire and its message once, however often Scheduler delivers it', async () => {
    await create(fixture.account, 'counted');
    const notice = await noticeOf('counted', minute);
    expect(await metricSums(() => metricFixture.fire(notice))).toMatchObject({
      Accepted: 1,
      ScheduleFires: 1,
    });
    expect(await metricSums(() => metricFixture.fire(notice))).toEqual({});
  });

  it('count a fire without a published message as missed', async () => {
    const poor = { ...fixture.account, id: 'acct-poor', budget: 0.000_001 };
    await fixture.saveAccount(poor, undefined);
    await create(poor, 'missed');
    const notice = await noticeOf('missed', minute, poor.id);
    const sums = await metricSums(() => metricFixture.fire(notice));
    expect(sums).toEqual({ ScheduleMisses: 1, LimitsHit: 1, BudgetReached: 1 });
  });
});

describe('runs', () => {
  it('count their starts, their steps and their ends once each', async () => {
    const sums = await sumsOf(async () => {
      await runs.start('wfr_counted');
      await runs.submit('wfr_counted', [resultOf(1)]);
      await runs.submit('wfr_counted', [resultOf(1)]);
      await acts.end('wfr_counted');
      await acts.end('wfr_counted');
      await runs.start('wfr_cancelled');
      await acts.end('wfr_cancelled', { cancel: true });
    });
    expect(sums).toMatchObject({ RunsStarted: 2, Steps: 1, RunsSucceeded: 1, RunsCancelled: 1 });
  });
});

const event = z.custom<APIGatewayProxyEvent>((value) => typeof value === 'object');
const context = z.custom<Context>((value) => typeof value === 'object');

describe('requests', () => {
  const ask = async (answer: () => Promise<unknown>): Promise<unknown> => {
    const [{ handlerOf }, { findRoute }] = await Promise.all([
      import('../../lambdas/http/handler.ts'),
      import('../../lambdas/http/routes.ts'),
    ]);
    const endpoint = async () => ({ status: 200, body: await answer() });
    const handler = handlerOf<'keys'>(
      {
        'GET /v2/keys': endpoint,
        'POST /v2/keys/rotate': endpoint,
        'POST /v2/rotate': endpoint,
        'GET /v2/tokens': endpoint,
        'POST /v2/tokens': endpoint,
        'POST /v2/tokens/rotate': endpoint,
        'POST /v2/tokens/{tokenId}/rotate': endpoint,
        'DELETE /v2/tokens/{tokenId}': endpoint,
      },
      findRoute,
      [],
    );
    const requestContext = { requestId: 'test', path: '/v2/keys', identity: { sourceIp: '127.0.0.1' } };
    const request = {
      httpMethod: 'GET',
      path: '/v2/keys',
      requestContext,
      body: null,
      isBase64Encoded: false,
    };
    return handler(event.parse(request), context.parse({}));
  };

  it('that are refused are counted separately from failures of the service, and answered ones are not counted', async () => {
    const { HttpError } = await import('../../lambdas/error/httpError.ts');
    const refused = () => Promise.reject(new HttpError(404, 'queue_not_found', 'There is no such queue.'));
    const unstored = () => Promise.reject(new HttpError(503, 'not_stored', 'Send it again.'));
    const crashed = () => Promise.reject(new Error('It crashes.'));
    expect(await metricSums(() => ask(refused))).toEqual({ Refused: 1 });
    expect(await metricSums(() => ask(unstored))).toEqual({ RequestsFailed: 1 });
    expect(await metricSums(() => ask(crashed))).toEqual({ RequestsFailed: 1 });
    expect(await metricSums(() => ask(() => Promise.resolve({})))).toEqual({});
  });
});
