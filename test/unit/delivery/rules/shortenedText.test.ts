import { expect, it } from 'vitest';
import * as fc from 'fast-check';
import { shortened } from '../../../../lambdas/delivery/rules/shortenedText.ts';

const textOf = (bytes: Uint8Array): string => new TextDecoder('utf-8', { fatal: true }).decode(bytes);

const longText = fc.string({ unit: 'binary', maxLength: 3_000 }).map((text) => text.toWellFormed());
const json = fc.dictionary(
  fc.string({ unit: 'grapheme', maxLength: 5 }),
  fc.oneof(longText, fc.integer(), fc.constant(null), fc.array(longText, { maxLength: 3 })),
  { maxKeys: 5 },
);

it('JSON is still JSON, is as short as is asked for, and has all but the ends of long texts', () => {
  fc.assert(
    fc.property(json, fc.integer({ min: 2_500, max: 9_000 }), (value, most) => {
      const body = Buffer.from(JSON.stringify(value));
      const short = shortened(body, most);
      expect(short.length).toBeLessThanOrEqual(most);
      if (body.length <= most) expect(short).toBe(body);
      else expect(Object.keys(JSON.parse(textOf(short)) as object)).toEqual(Object.keys(value));
    }),
  );
});

it('the beginning of JSON is JSON, wherever it ends', () => {
  const whole = Buffer.from(
    JSON.stringify({
      a: 'b"\\é€😀\u0007',
      c: [1, { d: 'e,}' }, [], null],
      message: 'it failed: ü',
      stack: 'at',
    }),
  );
  for (let length = 1; length < whole.length; length += 1) {
    const read = JSON.parse(textOf(shortened(whole.subarray(0, length), 1_000, true))) as { a?: string };
    if (length > 40) expect(read.a).toBe('b"\\é€😀\u0007');
  }
});

it.each([
  ['plain text', 'so '.repeat(1_000)],
  ['what only begins like JSON', `{no ${'so '.repeat(1_000)}`],
  ['JSON that is too deep to be written again', '['.repeat(100_000)],
  ['JSON of many short texts', JSON.stringify(Array.from({ length: 1_000 }, () => 'abc'))],
])('%s is cut to its beginning, and says so', (_name, text) => {
  const short = textOf(shortened(Buffer.from(text), 500));
  expect(Buffer.byteLength(short)).toBeLessThanOrEqual(500);
  expect(short).toMatch(new RegExp(`^.{400,} … \\(cut: the whole has ${Buffer.byteLength(text)} bytes\\)$`));
});

it('no character is cut in two', () => {
  for (const character of ['é', '€', '😀']) {
    for (let most = 300; most < 310; most += 1) {
      expect(textOf(shortened(Buffer.from(character.repeat(400)), most))).toMatch(
        new RegExp(`^${character}+ … \\(cut: .*\\)$`, 'u'),
      );
    }
  }
});

it('a text whose end was not read says so, though it is short', () => {
  expect(textOf(shortened(Buffer.from('so'), 500, true))).toBe('so … (cut: the whole has more than 2 bytes)');
});
