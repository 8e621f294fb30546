/**
 * `npm run prose -- <seed>` draws 60 comments and 60 sentences of documents, for a reader who does not know the code, and prints
 * the words of comments per line. `npm run prose -- --phrases` lists the phrases that the check refuses, and `npm run prose --
 * texts [console]` the texts that users read, of all or of one folder.
 */
import {
  codeFiles,
  commentsIn,
  documents,
  paragraphsIn,
  sentencesOf,
  wordsPerLine,
  type Prose,
} from './texts.ts';
import { randomOf } from '../support/simulatedClock.ts';
import { foundPhrases } from './phrases.ts';
import { userTexts } from './userTexts.ts';

const drawn = 60;

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
  const random = randomOf(seed);
  show(
    'Comments',
    draw(
      codeFiles().flatMap((file) => commentsIn(file)),
      random,
    ),
  );
  show(
    'Sentences of documents',
    draw(
      documents().flatMap((file) => paragraphsIn(file).flatMap(sentencesOf)),
      random,
    ),
  );
  console.log(`\n${wordsPerLine().toFixed(2)} words of comments for each line of code outside of tests.`);
}

const [first = '', folder = ''] = process.argv.slice(2);
if (first === '--phrases') for (const phrase of foundPhrases()) console.log(phrase);
else if (first === 'texts') {
  for (const { file, line, text } of userTexts())
    if (file.startsWith(folder)) console.log(`${file}:${line}  ${text}`);
} else if (/^\d+$/.test(first)) showDraw(Number(first));
else {
  console.error('Give a seed, such as 7; or --phrases; or texts, with a folder if you like.');
  process.exitCode = 2;
}
