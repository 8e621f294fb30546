import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatDuration, parseDurationMs } from '../../../lambdas/value/duration.ts';
import { HttpError } from '../../../lambdas/error/httpError.ts';

describe('a duration', () => {
  it.each([
    ['30s', 30_000],
    ['1d', 86_400_000],
    ['1d10h30m5s', 124_205_000],
    ['5s1m', 65_000],
    ['0s', 0],
    ['9999999999999s', 9_999_999_999_999_000],
    [`${'9'.repeat(400)}d`, Infinity],
  ])('%s has %i milliseconds', (text, milliseconds) => {
    expect(parseDurationMs('Svc-Delay', text)).toBe(milliseconds);
  });

  it.each(['', 's', '10', '-1s', '1.5s', '1 s', '1S', '1w', '1s1s', '1ms', '1s\n'])(
    '%j is invalid',
    (text) => {
      expect(() => parseDurationMs('Svc-Delay', text)).toThrow(HttpError);
    },
  );

  it('accepts only the units of its field', () => {
    expect(() => parseDurationMs('Svc-Timeout', '1d', ['h', 'm', 's'])).toThrow(/h, m, s/);
  });

  it('that is printed is read back unchanged', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 100_000 * 86_400 }), (seconds) => {
        expect(parseDurationMs('x', formatDuration(seconds * 1000))).toBe(seconds * 1000);
      }),
    );
  });

  it('of any text is a number of milliseconds or one error', () => {
    const texts = fc.oneof(fc.string(), fc.stringMatching(/^(\d{1,4}[smhdx]){1,5}$/));
    fc.assert(
      fc.property(texts, (text) => {
        try {
          expect(parseDurationMs('x', text)).toBeGreaterThanOrEqual(0);
        } catch (error) {
          expect(error).toBeInstanceOf(HttpError);
          expect((error as HttpError).status).toBe(400);
        }
      }),
    );
  });
});
