/**
 * `npm run prose -- <seed>` draws 60 comments and 60 sentences of documents, for a reader who does not know the code, and
 * prints how many words of comments there are per line. `-- --phrases <file>` lists a file's phrases, and `-- --shrink` lowers
 * the limits in `allowed.json`.
 */
import { countPhrases, shrink } from './allowed.ts';
import { phrasesIn } from './phrases.ts';
import {
  allProse,
  codeFiles,
  commentsIn,
  documents,
  linesOf,
  paragraphsIn,
  sentencesOf,
  wordsIn,
  type Prose,
} from './texts.ts';

const drawn = 60;

/** Random numbers from 0 to 1 (mulberry32). The same seed draws the same texts. */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

function draw(from: readonly Prose[], random: () => number): readonly Prose[] {
  const left = [...from];
  return Array.from({ length: Math.min(drawn, left.length) }, () =>
    left.splice(Math.floor(random() * left.length), 1),
  ).flat();
}

const show = (title: string, texts: readonly Prose[]): void => {
  console.log(`\n${title}\n`);
  for (const [index, { file, line, text }] of texts.entries())
    console.log(`${String(index + 1).padStart(2)}. ${file}:${line}\n    ${text.replace(/\n/g, '\n    ')}`);
};

function showDraw(seed: number): void {
  const code = codeFiles();
  const source = code.filter((file) => !file.startsWith('test/'));
  const comments = code.flatMap((file) => commentsIn(file));
  const words = source.flatMap((file) => commentsIn(file)).reduce((sum, { text }) => sum + wordsIn(text), 0);
  const random = randomOf(seed);
  show('Comments', draw(comments, random));
  show(
    'Sentences of documents',
    draw(
      documents().flatMap((file) => paragraphsIn(file).flatMap(sentencesOf)),
      random,
    ),
  );
  const phrases = Object.values(countPhrases()).reduce((sum, count) => sum + count, 0);
  console.log(
    `\n${(words / linesOf(source)).toFixed(2)} words of comments for each line of code outside of tests.`,
  );
  console.log(`${phrases} phrases of the list are left.`);
}

function showPhrases(name: string): void {
  for (const { line, text } of allProse().get(name) ?? [])
    for (const { instead } of phrasesIn(text)) console.log(`${name}:${line}: ${text}\n    write ${instead}`);
}

const [first = '', second = ''] = process.argv.slice(2);
if (first === '--shrink') console.log(shrink() ? 'Fewer phrases are allowed now.' : 'Nothing has changed.');
else if (first === '--phrases') showPhrases(second);
else if (/^\d+$/.test(first)) showDraw(Number(first));
else {
  console.error('Give a seed, such as 7; or --phrases and a file; or --shrink.');
  process.exitCode = 2;
}
