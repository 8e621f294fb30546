import { describe, expect, it } from 'vitest';
import { foundPhrases } from '../prose/phrases.ts';
import { wordsPerLine } from '../prose/texts.ts';

describe('the prose of the repository', () => {
  it('has no phrase in another language’s word order: see docs/writing.md', () => {
    expect(foundPhrases()).toEqual([]);
  });

  it('has at most one word of comment for each line of code', () => {
    expect(wordsPerLine()).toBeLessThanOrEqual(1);
  });
});
