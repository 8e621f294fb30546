import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { jsonTextBytes } from '../../../lambdas/shared/jsonSize.ts';

/** Tests that the size of a text in JSON is counted exactly, with any content and at any depth. */

const written = (text: string, levels: number): string =>
  levels === 0 ? text : JSON.stringify(written(text, levels - 1));

/** Texts of characters that JSON escapes, and of half characters. */
const texts = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        '"',
        '\\',
        '\n',
        '\b',
        '\f',
        '\t',
        '\r',
        '\u0000',
        '\u007f',
        '\ud800',
        '\udfff',
        '😀',
        'é',
        '€',
        '\u2028',
      ),
      fc.string({ unit: 'binary' }),
    ),
  )
  .map((parts) => parts.join(''));

describe('the bytes of a text in JSON', () => {
  it.each([1, 2, 3])('are counted if it is written %i times', (levels) => {
    fc.assert(
      fc.property(texts, (text) => {
        expect(jsonTextBytes(text, levels)).toBe(Buffer.byteLength(written(text, levels)));
      }),
    );
  });
});
