import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { excessIn } from '../../../lambdas/shared/jsonBounds.ts';

const excess = (text: string, values = 5, depth = 3) => excessIn(Buffer.from(text), { values, depth });

function sizeOf(value: unknown): { readonly values: number; readonly depth: number } {
  if (typeof value !== 'object' || value === null) return { values: 1, depth: 0 };
  const isList = Array.isArray(value);
  const parts = Object.values(value).map(sizeOf);
  const names = isList ? 0 : parts.length;
  return {
    values: parts.reduce((sum, { values }) => sum + values, 1 + names),
    depth: 1 + Math.max(0, ...parts.map(({ depth }) => depth)),
  };
}

describe('JSON', () => {
  it.each([
    ['[1,2,3,4]', undefined],
    ['[1,2,3,4,5]', 'values'],
    ['{"a":1,"b":2,"c":3}', 'values'],
    ['[[[[]]]]', 'depth'],
    ['[[]', undefined],
    ['"[[[[[{{{{,,,,,,,,,"', undefined],
    [String.raw`["\"[[[[[,,,,,,","\\",1]`, undefined],
    ['"no end', undefined],
    ['"ü[[[[€,,,,,,,"', undefined],
  ])('%s has too many: %s', (text, expected) => {
    expect(excess(text)).toBe(expected);
  });

  it('of any kind passes with limits equal to its size', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), fc.constantFrom(undefined, 2), (value, space) => {
        const bytes = Buffer.from(JSON.stringify(value, undefined, space));
        const { values, depth } = sizeOf(value);
        // Each colon and comma counts, so an empty list or object counts for one more than its parts.
        expect(excessIn(bytes, { values: 2 * values + 1, depth })).toBeUndefined();
        if (depth > 0) expect(excessIn(bytes, { values: 2 * values + 1, depth: depth - 1 })).toBe('depth');
      }),
    );
  });

  it('that never ends is read once', () => {
    const text = `["${'\\\\'.repeat(1_000_000)}`;
    expect(excess(text)).toBeUndefined();
    expect(excess('['.repeat(2_000_000), 10, 100)).toBe('values');
  });
});
