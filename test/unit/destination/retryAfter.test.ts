import type { Header } from '../../../lambdas/shared/headers.ts';
import { describe, expect, it } from 'vitest';
import { retryDelayMs } from '../../../lambdas/delivery/rules/retryDelay.ts';
import { dayMs, minuteMs, secondMs } from '../../../lambdas/shared/clock.ts';
import { verdictOf } from '../../../lambdas/circuit/verdict.ts';
import { outcomeOf } from '../../../lambdas/delivery/outcome.ts';

/** Mon, 21 Sep 2026 14:13:20 GMT */
const now = 1_790_000_000_000;
const hourMs = 60 * minuteMs;
/** The delay of a retry without a hint, in milliseconds. */
const own = 7_000;
const waitAfter = (status: number, ...headers: readonly Header[]): Promise<number> =>
  retryDelayMs(0, String(own), { status, headers }, now);
const waitMs = (...headers: readonly Header[]): Promise<number> => waitAfter(429, ...headers);

const limits = ['x-ratelimit-reset', 'x-ratelimit-reset-requests', 'x-ratelimit-reset-tokens'] as const;
const resets = ['retry-after', ...limits] as const;

describe('a destination that asks for a later retry', () => {
  it.each([
    ['1.5', 1_500],
    ['0.0001', secondMs],
    ['86400', dayMs],
    ['86401', dayMs],
    // Unix times.
    ['1790000090', 90 * secondMs],
    ['1890000000', dayMs],
    ['1790000090250', 90_250],
    ['Monday, 21-Sep-26 14:14:20 GMT', minuteMs],
    ['Mon, 21 Sep 2026 14:14:20 +0000', minuteMs],
    // Durations in Go’s format.
    ['6m5s', 6 * minuteMs + 5 * secondMs],
    ['1h15m30.918s', hourMs + 15 * minuteMs + 30_918],
    ['88ms', secondMs],
    ['2500000µs', 2_500],
    ['2500000μs', 2_500],
    [Buffer.from('2500000µs').toString('latin1'), 2_500],
    ['2500000000ns', 2_500],
    ['24h0m0s', dayMs],
  ])('by %j gets it after this number of milliseconds: %i', async (value, wait) => {
    for (const name of resets) expect(await waitMs([name, value])).toBe(wait);
  });

  it.each(['', '-1', '10, 20', 'Mon, 99 Sep 2026 14:14:20 GMT', 'constructor', 'NaN', '9'.repeat(101)])(
    'by %j is not understood, and gets it after the message’s delay',
    async (value) => {
      expect(await waitMs(['retry-after', value])).toBe(own);
    },
  );

  it.each(['0', '1000000000', '1790000000', 'Sun, 06 Nov 1994 08:49:37 GMT'])(
    'by %j, which is not in the future, gets it after the message’s delay',
    async (value) => {
      for (const name of resets) expect(await waitMs([name, value])).toBe(own);
      expect(await waitMs(['retry-after', value], ['x-ratelimit-reset', '9'])).toBe(9 * secondMs);
    },
  );

  it('in several headers gets it at the latest of the times', async () => {
    const requests: Header = ['x-ratelimit-reset-requests', '120ms'];
    const tokens: Header = ['x-ratelimit-reset-tokens', '6m0s'];
    const date: Header = ['retry-after', 'Mon, 21 Sep 2026 14:14:20 GMT'];
    expect(await waitMs(requests, tokens, date)).toBe(6 * minuteMs);
    expect(await waitMs(requests, date)).toBe(minuteMs);
    expect(await waitMs(['retry-after', '5'], ['retry-after', '9'], ['retry-after', 'soon'])).toBe(
      9 * secondMs,
    );
  });

  it('by other headers or none gets it after the message’s delay', async () => {
    expect(await waitMs()).toBe(own);
    expect(await waitMs(['ratelimit-reset', '5'], ['x-retry-after', '5'])).toBe(own);
  });

  it.each([301, 404, 429, 500])('by `Retry-After` is respected with status %i', async (status) => {
    const message = { maxRetries: 3, retryDelay: String(own), prefix: 'Svc' };
    const response = { status, headers: [['retry-after', '42']] as const, body: new Uint8Array() };
    expect(await outcomeOf(message, {}, 0, response, now)).toEqual({
      state: 'RETRY',
      nextDeliveryAt: now + 42_000,
    });
    expect(await outcomeOf(message, {}, 3, response, now)).toEqual({ state: 'FAILED' });
    expect(await outcomeOf(message, {}, 0, { ...response, status: 200 }, now)).toEqual({
      state: 'DELIVERED',
    });
  });
});

describe('a rate limiter that reports the end of its period in each answer', () => {
  it.each(limits)(
    'by %s is respected with 429 and 503, which say that its limit was reached',
    async (reset) => {
      for (const status of [429, 503]) expect(await waitAfter(status, [reset, '2'])).toBe(2_000);
      for (const status of [301, 400, 404, 489, 500, 502, 504]) {
        expect(await waitAfter(status, [reset, '2'])).toBe(own);
      }
    },
  );

  it.each(limits)('by %s is respected with another status if the same limit is used up', async (reset) => {
    const remaining = reset.replace('reset', 'remaining');
    for (const none of ['0', ' 0 ', '0.0']) {
      expect(await waitAfter(500, [reset, '2'], [remaining, none])).toBe(2_000);
    }
    for (const some of ['99', '1', '0.5', '-1', '', 'none']) {
      expect(await waitAfter(500, [reset, '2'], [remaining, some])).toBe(own);
    }
    for (const other of limits.filter((name) => name !== reset)) {
      expect(await waitAfter(500, [other, '2'], [remaining, '0'])).toBe(own);
    }
  });

  it('is respected by its host’s circuit in the same cases', () => {
    const verdict = (status: number, ...headers: readonly Header[]) =>
      verdictOf({ status, headers, body: new Uint8Array() }, now);
    const reset: Header = ['x-ratelimit-reset', '60'];
    expect(verdict(503, reset)).toMatchObject({ says: 'down', notBefore: now + minuteMs });
    expect(verdict(429, reset)).toMatchObject({ says: 'busy', notBefore: now + minuteMs });
    expect(verdict(500, reset)).toMatchObject({ says: 'down', notBefore: undefined });
    expect(verdict(500, reset, ['x-ratelimit-remaining', '0'])).toMatchObject({ notBefore: now + minuteMs });
    expect(verdict(503, ['retry-after', '0'])).toMatchObject({ notBefore: undefined });
  });
});
