import { describe, expect, it } from 'vitest';
import { foundPhrases, phrasesIn } from '../prose/phrases.ts';
import { commentsIn, paragraphsIn, sentencesOf, wordsPerLine } from '../prose/texts.ts';

describe('the prose of the repository', () => {
  it('has no phrase in another language’s word order: see docs/writing.md', () => {
    expect(foundPhrases()).toEqual([]);
  });

  it('has at most one word of comment for each line of code', () => {
    expect(wordsPerLine()).toBeLessThanOrEqual(1);
  });
});

describe('a phrase of the list', () => {
  it.each([
    'Settings stand in `cdk.json`.',
    'Of its message; undefined for one that has none.',
    'What only `-c` said, the next deployment takes away.',
    'Callbacks that fail are told to nobody.',
    'It has a table of its own.',
    'Jobs come again.',
    'A path that is none invokes a function.',
  ])('is found: %s', (sentence) => {
    expect(phrasesIn(sentence)).not.toEqual([]);
  });

  it.each(['A setting is in `stands.json`.', 'The code is `that of its own`.', 'Standard Webhooks'])(
    'is not found: %s',
    (sentence) => {
      expect(phrasesIn(sentence)).toEqual([]);
    },
  );
});

describe('texts', () => {
  it('are the comments of code, without strings that look like one', () => {
    const code = [
      '/** Counts. @returns a number */',
      "const url = 'https://example.com'; // A URL.",
      'const pattern = /\\/\\/not/;',
      '// One line,',
      '// and another.',
      'const text = `// ${url} /* no */`;',
    ].join('\n');
    expect(commentsIn('a.ts', code).map(({ line, text }) => [line, text])).toEqual([
      [1, 'Counts. @returns a number'],
      [2, 'A URL.'],
      [4, 'One line,\nand another.'],
    ]);
  });

  it('are the sentences of documents, without code', () => {
    const text =
      '# Title\n\nOne sentence here. Another `a. B` one.\n\n```sh\nnot this one\n```\n\n| a cell with words | more words here |\n';
    expect(
      paragraphsIn('a.md', text)
        .flatMap(sentencesOf)
        .map((one) => one.text),
    ).toEqual(['One sentence here.', 'Another `a. B` one.', 'a cell with words', 'more words here']);
  });
});
