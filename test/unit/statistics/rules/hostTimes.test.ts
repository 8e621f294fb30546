import { describe, expect, it } from 'vitest';
import {
  hostTimesOf,
  isFailing,
  stepsOf,
  type Timed,
} from '../../../../lambdas/statistics/rules/hostTimes.ts';

const attempt = (host: string, ms: number, more: Partial<Timed> = {}): Timed => ({
  url: `https://${host}/hook?a=b`,
  state: 'DELIVERED',
  startedAt: 1_000,
  recordedAt: 1_000 + ms,
  status: 200,
  ...more,
});

describe('the answer times of hosts', () => {
  it('are the median and the 95th percentile', () => {
    const attempts = [9, 100, ...Array.from({ length: 98 }, (_, index) => index + 1)];
    expect(
      hostTimesOf(
        attempts.map((ms) => attempt('a.example', ms)),
        9,
      ),
    ).toMatchObject([{ host: 'a.example', attempts: 100, failures: 0, p50: 49, p95: 94 }]);
    expect(hostTimesOf([attempt('a.example', 7)], 9)).toMatchObject([{ p50: 7, p95: 7 }]);
  });

  it('exclude attempts without an answer, which are counted as attempts', () => {
    const failed = { state: 'RETRY', status: 0 };
    expect(hostTimesOf([attempt('a.example', 5), attempt('a.example', 900, failed)], 9)).toMatchObject([
      { host: 'a.example', attempts: 2, failures: 1, p50: 5, p95: 5 },
    ]);
    expect(hostTimesOf([attempt('a.example', 900, failed)], 9)).toMatchObject([
      { host: 'a.example', attempts: 1, failures: 1, p50: undefined, p95: undefined },
    ]);
  });

  it('are sorted by the number of attempts, and then by name', () => {
    const url = 'arn:aws:lambda:eu-central-1:123456789012:function:orders';
    const attempts = [
      attempt('c.example', 1),
      attempt('a.example:8080', 1),
      attempt('b.example', 1),
      attempt('', 1, { url }),
      attempt('b.example', 2),
    ];
    const hosts = (most: number) => hostTimesOf(attempts, most).map(({ host }) => host);
    expect(hosts(9)).toEqual(['b.example', 'a.example:8080', url, 'c.example']);
    expect(hostTimesOf(attempts.toReversed(), 9).map(({ host }) => host)).toEqual(hosts(9));
    expect(hosts(2)).toEqual(['b.example', 'a.example:8080']);
  });
});

const hourMs = 3_600_000;

/** Attempts at a host, a second apart, the oldest first: `+` for a success, `-` for a failure. */
const run = (host: string, outcomes: string, from = 0): readonly Timed[] =>
  outcomes.split('').map((outcome, index) =>
    attempt(host, 0, {
      startedAt: from + 1_000 * index,
      recordedAt: from + 1_000 * index,
      ...(outcome === '-' && { state: 'RETRY', status: 503 }),
    }),
  );

describe('a host', () => {
  it('has the times of its failures and of its last success, from attempts in any order', () => {
    const attempts = run('a.example', '-+--');
    for (const some of [attempts, attempts.toReversed()]) {
      expect(hostTimesOf(some, 9)).toMatchObject([
        {
          attempts: 4,
          failures: 3,
          firstFailure: 0,
          lastFailure: 3_000,
          lastSuccess: 1_000,
          failingSince: 2_000,
          failuresInRow: 2,
          lastStatus: 503,
        },
      ]);
    }
    expect(hostTimesOf(run('a.example', '--+'), 9)).toMatchObject([
      { lastFailure: 1_000, lastSuccess: 2_000, failingSince: undefined, failuresInRow: 0, lastStatus: 200 },
    ]);
  });

  it.each([
    ['-----', 0, true],
    ['+-----', 0, true],
    ['----', 0, false],
    ['-----+', 0, false],
    ['-----', hourMs, true],
    ['-----', hourMs + 1, false],
  ])('with the attempts %s is failing %d ms after the last: %s', (outcomes, later, isIt) => {
    const [host] = hostTimesOf(run('a.example', outcomes), 1);
    expect(host && isFailing(host, 1_000 * (outcomes.length - 1) + later)).toBe(isIt);
  });

  it('has its attempts over time, with those of the last millisecond in the last step', () => {
    expect(stepsOf(run('a.example', '+--+-'), 0, 4_000, 2)).toMatchObject([
      { from: 0, attempts: 2, failures: 1 },
      { from: 2_000, attempts: 3, failures: 2 },
    ]);
    expect(stepsOf([], 0, 10, 2)).toEqual([
      { from: 0, attempts: 0, failures: 0, p50: undefined, p99: undefined },
      { from: 5, attempts: 0, failures: 0, p50: undefined, p99: undefined },
    ]);
  });

  it('has its answer times over time, without attempts that got no answer', () => {
    const times = Array.from({ length: 100 }, (_, ms) => ({ startedAt: 1_000 - ms, recordedAt: 1_000 }));
    const attempts = [
      ...times.map((time) => attempt('a.example', 0, time)),
      attempt('a.example', 0, { startedAt: 0, recordedAt: 1_000, status: 0, state: 'RETRY' }),
    ];
    expect(stepsOf(attempts, 0, 4_000, 2)).toEqual([
      { from: 0, attempts: 101, failures: 1, p50: 49, p99: 98 },
      { from: 2_000, attempts: 0, failures: 0, p50: undefined, p99: undefined },
    ]);
  });
});
