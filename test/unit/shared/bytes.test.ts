import { describe, expect, it } from 'vitest';
import { beginningOf } from '../../../lambdas/shared/bytes.ts';
import { quote } from '../../../lambdas/error/httpError.ts';

describe('the beginning of a body', () => {
  it.each(['a', 'ü', '€', '😀'])('of text of %s is text, and as long as allowed', (character) => {
    const size = Buffer.byteLength(character);
    const body = Buffer.from(character.repeat(20));
    for (let most = 0; most <= body.length + 1; most += 1) {
      const beginning = Buffer.from(beginningOf(body, most)).toString('utf8');
      expect(beginning).toBe(character.repeat(Math.min(20, Math.floor(most / size))));
    }
  });

  it('of other bytes uses all but at most three of its allowed bytes', () => {
    const body = new Uint8Array(50).fill(0x80);
    for (let most = 0; most < 50; most += 1) {
      const { length } = beginningOf(body, most);
      expect(length).toBeLessThanOrEqual(most);
      expect(length).toBeGreaterThanOrEqual(most - 3);
    }
  });
});

it('a quote in an error has no half characters', () => {
  expect(quote(`${'x'.repeat(56)}😀${'x'.repeat(10)}`)).toBe(`"${'x'.repeat(56)}\uFFFD..."`);
});
