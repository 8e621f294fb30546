import { describe, expect, it } from 'vitest';
import { hostTimesOf, type Timed } from '../../../../lambdas/statistics/rules/hostTimes.ts';

const attempt = (host: string, ms: number, more: Partial<Timed> = {}): Timed => ({
  url: `https://${host}/hook?a=b`,
  state: 'DELIVERED',
  startedAt: 1_000,
  recordedAt: 1_000 + ms,
  status: 200,
  ...more,
});

describe('the times of hosts', () => {
  it('are those below which half and 95 of 100 answers came', () => {
    const attempts = [9, 100, ...Array.from({ length: 98 }, (_, index) => index + 1)];
    expect(
      hostTimesOf(
        attempts.map((ms) => attempt('a.example', ms)),
        9,
      ),
    ).toEqual([{ host: 'a.example', attempts: 100, failures: 0, p50: 49, p95: 94 }]);
    expect(hostTimesOf([attempt('a.example', 7)], 9)).toMatchObject([{ p50: 7, p95: 7 }]);
  });

  it('are not those of attempts without an answer, which count as attempts', () => {
    const failed = { state: 'RETRY', status: 0 };
    expect(hostTimesOf([attempt('a.example', 5), attempt('a.example', 900, failed)], 9)).toEqual([
      { host: 'a.example', attempts: 2, failures: 1, p50: 5, p95: 5 },
    ]);
    expect(hostTimesOf([attempt('a.example', 900, failed)], 9)).toEqual([
      { host: 'a.example', attempts: 1, failures: 1, p50: undefined, p95: undefined },
    ]);
  });

  it('begin with the hosts that have the most attempts, and then go by their names', () => {
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
