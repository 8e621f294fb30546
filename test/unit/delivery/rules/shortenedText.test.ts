import { expect, it } from 'vitest';
import * as fc from 'fast-check';
import { shortened } from '../../../../lambdas/delivery/rules/shortenedText.ts';

const textOf = (bytes: Uint8Array): string => new TextDecoder('utf-8', { fatal: true }).decode(bytes);

const mark = ' … (cut: the end is missing)';

const shortText = fc.string({ unit: 'grapheme', maxLength: 20 }).map((text) => text.toWellFormed());
const longText = fc
  .string({ unit: 'binary', minLength: 800, maxLength: 3_000 })
  .map((text) => text.toWellFormed());
const rest = fc.dictionary(
  fc.string({ unit: 'grapheme', maxLength: 5 }),
  fc.oneof(shortText, fc.integer(), fc.constant(null), fc.array(longText, { maxLength: 3 })),
  { maxKeys: 5 },
);

it('JSON stays JSON, has the requested length, and loses only the ends of long texts', () => {
  fc.assert(
    fc.property(rest, longText, fc.integer({ min: 2_500, max: 9_000 }), (others, long, most) => {
      const value = { ...others, long, longer: long.repeat(10) };
      const body = Buffer.from(JSON.stringify(value));
      const short = shortened(body, most);
      expect(short.length).toBeLessThanOrEqual(most);
      const read = JSON.parse(textOf(short)) as typeof value;
      expect(Object.keys(read)).toEqual(Object.keys(value));
      const kept = read.longer.split(' … (cut: ')[0] ?? '';
      expect(value.longer.startsWith(kept)).toBe(true);
      expect(read.longer).toBe(`${kept} … (cut: the whole has ${Buffer.byteLength(value.longer)} bytes)`);
    }),
    // It would take minutes to shrink a failing example of this length.
    { endOnFailure: true },
  );
});

it('JSON keeps as much of its texts as fits', () => {
  const value = { first: 'é'.repeat(2_000), second: 'x'.repeat(3_000), third: 'y'.repeat(90), n: [1, null] };
  for (const most of [1_000, 2_000, 4_000]) {
    const short = textOf(shortened(Buffer.from(JSON.stringify(value)), most));
    expect(Buffer.byteLength(short)).toBeGreaterThan(0.7 * most);
    const read = JSON.parse(short) as typeof value;
    expect(read.first).toMatch(/^é+ … \(cut: the whole has 4000 bytes\)$/);
    expect(read).toMatchObject({ third: value.third, n: value.n });
  }
});

it.each([
  ['a text', 'so it goes'.repeat(30)],
  ['JSON', JSON.stringify({ text: 'x'.repeat(300) })],
])('%s that just fits is the body itself', (_name, text) => {
  const body = Buffer.from(text);
  expect(shortened(body, body.length)).toBe(body);
  expect(shortened(body, body.length - 1)).not.toBe(body);
});

it.each([
  [100, true],
  [101, false],
])('JSON of %i levels stays JSON: %s', (levels, stays) => {
  const text = `${'['.repeat(levels)}"${'x'.repeat(1_000)}"${']'.repeat(levels)}`;
  for (const body of [text, text.slice(0, 900)]) {
    const short = textOf(shortened(Buffer.from(body), 600, body !== text));
    expect(/"\]+$/.test(short)).toBe(stays);
  }
});

it('a text with more closing than opening brackets is not JSON', () => {
  const text = `{"a":1}]]]${'x'.repeat(1_000)}`;
  expect(textOf(shortened(Buffer.from(text), 300))).toMatch(/^\{"a":1\}\]\]\]x+ … \(cut: /);
});

it.each([
  ['{', {}],
  ['{"a":1', { a: 1 }],
  ['{"a":1,"b":"', { a: 1, b: mark }],
  ['{"a":1,"b":"x', { a: 1, b: `x${mark}` }],
  ['{"a":1,"b":"x"', { a: 1, b: 'x' }],
  ['{"a":"x\\u00e', { a: `x${mark}` }],
  ['{"a":"x\\u00e9', { a: `xé${mark}` }],
  ['{"a":"x\\\\\\', { a: `x\\${mark}` }],
  ['{"a":"x\\\\\\\\\\u00', { a: `x\\\\${mark}` }],
  ['{"a":"x\\"y', { a: `x"y${mark}` }],
  ['[{"a":"}]', [{ a: `}]${mark}` }]],
])('%s is read up to its end', (text, value) => {
  expect(JSON.parse(textOf(shortened(Buffer.from(text), 500, true)))).toEqual(value);
});

it('half a character at the end of JSON is left out', () => {
  const bytes = Buffer.from('{"a":"x€');
  for (const missing of [1, 2]) {
    const short = shortened(bytes.subarray(0, bytes.length - missing), 500, true);
    expect(JSON.parse(textOf(short))).toEqual({ a: `x${mark}` });
  }
});

it('a beginning of JSON becomes JSON, wherever it ends', () => {
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

it('a text that was not read to its end says so, even if it is short', () => {
  expect(textOf(shortened(Buffer.from('so'), 500, true))).toBe('so … (cut: the whole has more than 2 bytes)');
});
