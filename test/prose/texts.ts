/** The prose of the repository: comments, and the sentences of documents. */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import jsTokens from 'js-tokens';

const root = join(import.meta.dirname, '../..');

/** A comment, or a sentence of a document. */
export interface Prose {
  readonly file: string;
  readonly line: number;
  readonly text: string;
}

function tracked(): readonly string[] {
  const listed = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: root,
    encoding: 'utf8',
  });
  return listed.split('\0').filter((file) => file !== '' && existsSync(join(root, file)));
}

const read = (file: string): string => readFileSync(join(root, file), 'utf8');

export const codeFiles = (): readonly string[] => tracked().filter((file) => /\.(ts|tsx)$/.test(file));
/** Documents that people write. A program writes `docs/conformance.md`. */
export const documents = (): readonly string[] =>
  tracked().filter(
    (file) => /\.md$/.test(file) && file !== 'docs/conformance.md' && !file.startsWith('.github/'),
  );

export const linesOf = (files: readonly string[]): number =>
  files.reduce((sum, file) => sum + read(file).split('\n').length - 1, 0);

/** Removes a comment's marks. */
const bare = (comment: string): string =>
  comment
    .replace(/^\/\*\*?|\*\/$/g, '')
    .split('\n')
    .map((line) => line.replace(/^\s*(?:\*(?!\*)|\/\/)?\s?/, '').trim())
    .join('\n')
    .trim();

/** Finds a file's comments. Consecutive line comments are one. */
export function commentsIn(file: string, code: string = read(file)): readonly Prose[] {
  const found: Prose[] = [];
  let line = 1;
  let previous: { readonly endsAt: number; readonly text: string; readonly startsAt: number } | undefined;
  const take = (): void => {
    if (previous !== undefined) found.push({ file, line: previous.startsAt, text: bare(previous.text) });
    previous = undefined;
  };
  for (const { type, value } of jsTokens(code, { jsx: file.endsWith('x') })) {
    const lines = value.split('\n').length - 1;
    if (type === 'SingleLineComment') {
      if (previous?.endsAt === line - 1)
        previous = { ...previous, endsAt: line, text: `${previous.text}\n${value}` };
      else {
        take();
        previous = { startsAt: line, endsAt: line, text: value };
      }
    } else if (type === 'MultiLineComment') {
      take();
      found.push({ file, line, text: bare(value) });
    } else if (type !== 'WhiteSpace' && type !== 'LineTerminatorSequence') take();
    line += lines;
  }
  take();
  return found.filter(({ text }) => /[a-z]/i.test(text) && !/^(eslint|oxlint|@ts-|#!)/.test(text));
}

/** Splits prose into sentences without splitting code. */
export function sentencesOf({ file, line, text }: Prose): readonly Prose[] {
  const kept = new Map<string, string>();
  const hidden = text.replace(/`[^`]*`|\([^()]*\)/g, (code) => {
    const mark = `‹${kept.size}›`;
    kept.set(mark, code);
    return mark;
  });
  return hidden
    .split(/(?<=[.!?:])\s+(?=[A-Z@‹*[])|\n(?=@|- |\d+\. )|\n\n/)
    .map((sentence) =>
      sentence
        .replace(/‹\d+›/g, (mark) => kept.get(mark) ?? '')
        .replace(/\s+/g, ' ')
        .trim(),
    )
    .filter((sentence) => sentence !== '')
    .map((sentence) => ({ file, line, text: sentence }));
}

/** Finds a document's paragraphs, items and cells, without code. */
export function paragraphsIn(file: string, text: string = read(file)): readonly Prose[] {
  const withoutCode = text.replace(/^(```|~~~)[\s\S]*?^\1.*$|<!--[\s\S]*?-->/gm, (block) =>
    block.replace(/[^\n]/g, ''),
  );
  const found: Prose[] = [];
  let paragraph: { readonly line: number; text: string } | undefined;
  const end = (): void => {
    if (paragraph !== undefined) found.push({ file, ...paragraph });
    paragraph = undefined;
  };
  for (const [index, line] of withoutCode.split('\n').entries()) {
    const cells = /^\|(.*)\|$/.exec(line.trim())?.[1];
    if (cells !== undefined) {
      end();
      if (!/^[\s|:-]*$/.test(cells))
        found.push(...cells.split(/(?<!\\)\|/).map((cell) => ({ file, line: index + 1, text: cell.trim() })));
    } else if (/^\s*(#|$)/.test(line)) end();
    else if (/^\s*([-*]|\d+\.)\s/.test(line) || paragraph === undefined) {
      end();
      paragraph = { line: index + 1, text: line.trim() };
    } else paragraph.text += `\n${line.trim()}`;
  }
  end();
  return found.filter(({ text: one }) => /[a-z]{2}.*\s.*[a-z]{2}/is.test(one));
}

const title =
  /\b(?:it|describe|test)(?:\.[a-zA-Z]+)?(?:\((?:[^()]|\([^()]*\))*\))?\(\s*(['"`])((?:\\.|(?!\1)[^\\])*)\1/g;

/** Finds the titles of tests. */
function titlesIn(file: string): readonly Prose[] {
  if (!file.startsWith('test/')) return [];
  const text = read(file);
  return [...text.matchAll(title)].map(({ index, 2: found = '' }) => ({
    file,
    line: text.slice(0, index).split('\n').length,
    text: found,
  }));
}

/** The texts that the check reads: comments, documents, and titles of tests. */
export const allProse = (): readonly Prose[] => [
  ...codeFiles().flatMap((file) => [...commentsIn(file).flatMap(sentencesOf), ...titlesIn(file)]),
  ...documents().flatMap((file) => paragraphsIn(file).flatMap(sentencesOf)),
];

export const wordsIn = (text: string): number => text.split(/\s+/).filter((word) => /\w/.test(word)).length;

/** The words of comments for each line of code outside of tests. */
export function wordsPerLine(): number {
  const source = codeFiles().filter((file) => !file.startsWith('test/'));
  const words = source.flatMap((file) => commentsIn(file)).reduce((sum, { text }) => sum + wordsIn(text), 0);
  return words / linesOf(source);
}
