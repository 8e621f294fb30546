import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, it } from 'vitest';

const root = resolve(import.meta.dirname, '../..');
const texts = [
  'README.md',
  'CONTRIBUTING.md',
  ...readdirSync(join(root, 'docs')).map((name) => `docs/${name}`),
];

/** Paths from the root, in backticks; `<a concept>` and `*` stand for any name, and what stands before them is looked for. */
const pathsIn = (text: string): readonly string[] =>
  [...text.matchAll(/`((?:bench|bin|lambdas|lib|local|migrate|test)\/[^`\s]*)`/g)].map(([, path = '']) =>
    path.replace(/[<*].*$/, ''),
  );

it.each(texts)('The files and folders that %s names are there', (name) => {
  const missing = pathsIn(readFileSync(join(root, name), 'utf8')).filter(
    (path) => !existsSync(join(root, path)),
  );
  expect(missing).toEqual([]);
});

it('The documents name files', () => {
  const named = texts.flatMap((name) => pathsIn(readFileSync(join(root, name), 'utf8')));
  expect(named.length).toBeGreaterThan(20);
});
