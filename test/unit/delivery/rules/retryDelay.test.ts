import { describe, expect, it } from 'vitest';
import { backoffMs, defaultBackoffMs, retryDelayMs } from '../../../../lambdas/delivery/rules/retryDelay.ts';
import { secondMs } from '../../../../lambdas/shared/clock.ts';
import type { Header } from '../../../../lambdas/shared/headers.ts';

describe('the wait before a retry', () => {
  it('is by default 12 s, 2 m 28 s, 30 m 8 s, 6 h 7 m and then a day', () => {
    const seconds = [1, 2, 3, 4, 5, 9].map((retry) => Math.round(defaultBackoffMs(retry) / 1000));
    expect(seconds).toEqual([12, 148, 1808, 22_026, 86_400, 86_400]);
  });

  it.each([
    ['-1', 0],
    ['86400000 * 2', 86_400_000],
    ['exp(9999)', 86_400_000],
    ['-exp(9999)', 0],
    ['1.4', 1],
  ])('of the expression %s is clamped to %i ms', async (expression, wait) => {
    expect(await backoffMs(0, expression)).toBe(wait);
  });

  it('is the default if the expression gives no number', async () => {
    expect(await backoffMs(1, '0 / 0')).toBe(defaultBackoffMs(2));
    expect(await backoffMs(1, undefined)).toBe(defaultBackoffMs(2));
  });
  it('is at least a second if it is the answer’s; the message itself may say less', async () => {
    const after = (...headers: readonly Header[]) => retryDelayMs(0, '0', { status: 500, headers }, 0);
    expect([await after(['retry-after', '0.1']), await after()]).toEqual([secondMs, 0]);
  });
});
