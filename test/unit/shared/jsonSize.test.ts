import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { jsonTextBytes } from '../../../lambdas/shared/jsonSize.ts';

/** What a text takes in JSON is counted exactly, whatever is in it and however deep it stands. */

const written = (text: string, levels: number): string =>
  levels === 0 ? text : JSON.stringify(written(text, levels - 1));

/** Texts of all that JSON escapes, and of halves of characters. */
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
  it.each([1, 2, 3])('are those of what is written %i times', (levels) => {
    fc.assert(
      fc.property(texts, (text) => {
        expect(jsonTextBytes(text, levels)).toBe(Buffer.byteLength(written(text, levels)));
      }),
    );
  });
});
