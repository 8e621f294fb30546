import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { expect, it } from 'vitest';
import manifest from '../../package.json' with { type: 'json' };
import { settings } from '../../lambdas/options/described.ts';
import { headerName } from '../../lambdas/shared/headers.ts';
import { slugify } from '../../site/pages.ts';

const root = resolve(import.meta.dirname, '../..');
const texts = [
  'README.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  'CHANGELOG.md',
  ...readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
];
const read = (name: string): string => readFileSync(join(root, name), 'utf8');

/** Returns paths in backticks from the root. Only the part before `<a concept>` or `*` is checked. */
const pathsIn = (text: string): readonly string[] =>
  [...text.matchAll(/`((?:bench|bin|lambdas|lib|local|migrate|site|test|verify)\/[^`\s]*)`/g)].map(
    ([, path = '']) => path.replace(/[<*].*$/, ''),
  );

it.each(texts)('The files and folders that %s names exist', (name) => {
  const missing = pathsIn(read(name)).filter((path) => !existsSync(join(root, path)));
  expect(missing).toEqual([]);
});

it('The documents name files', () => {
  const named = texts.flatMap((name) => pathsIn(read(name)));
  expect(named.length).toBeGreaterThan(20);
});

const withoutCode = (text: string): string => text.replaceAll(/^```.*?^```$/gms, '');

const anchorsOf = (name: string): readonly string[] =>
  [...withoutCode(read(name)).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => slugify(heading));

/** Returns a document’s links into the project: the file, and the heading after `#`. */
const linksIn = (name: string): readonly { link: string; file: string; anchor: string }[] =>
  [...withoutCode(read(name)).matchAll(/\]\((?!https?:)([^)#\s]*)(?:#([^)\s]*))?\)/g)].map(
    ([, path = '', anchor = '']) => ({
      link: `${path}#${anchor}`,
      file: path === '' ? name : relative(root, resolve(root, dirname(name), path)),
      anchor,
    }),
  );

it.each(texts)('The links of %s lead to existing files and headings', (name) => {
  const broken = linksIn(name).filter(
    ({ file, anchor }) =>
      !existsSync(join(root, file)) || (anchor !== '' && !anchorsOf(file).includes(anchor)),
  );
  expect(broken.map(({ link }) => link)).toEqual([]);
});

it('The README links to every document', () => {
  const linked = new Set(linksIn('README.md').map(({ file }) => file));
  expect(texts.filter((name) => name !== 'README.md' && !linked.has(name))).toEqual([]);
});

it('The documents name each option of a message, a schedule and a run', () => {
  const all = texts.map(read).join('\n');
  const headers = Object.keys(settings).map((name) => headerName('Svc', name.replace('-*', '')));
  expect(headers.filter((header) => !all.includes(header))).toEqual([]);
});

it('The documents name each flag and variable of `svc-queue start`', () => {
  const documented = ['docs/local-stage.md', 'docs/server.md'].map(read).join('\n');
  const flags = read('local/stage/options.ts').match(
    /(?<=\.option\(\s*')--[a-z-]+|(?<=\()SVC_[A-Z_]+(?=[;)])/g,
  );
  expect(flags?.length).toBeGreaterThan(20);
  expect(flags?.filter((name) => !name.startsWith('SVC_TEST_') && !documented.includes(name))).toEqual([]);
});

it('The README has less than 200 lines, and tables that fit a page', () => {
  const lines = read('README.md').split('\n');
  expect(lines.length).toBeLessThan(200);
  expect(lines.filter((line) => line.startsWith('|') && line.length > 140)).toEqual([]);
});

it('The runbooks have each command in a block, because tests run the blocks', () => {
  const runbooks = ['docs/deploy.md', 'docs/operate.md', 'docs/recovery.md', 'docs/removal.md'].map(read);
  const blocks = runbooks.flatMap((text) => text.match(/^ *```sh$[^]*?^ *```$/gm) ?? []).join('\n');
  const inText = runbooks.flatMap(
    (text) => withoutCode(text).match(/(?<=`)(?:aws|npx|svc-queue|npm run|curl) [^`]+/g) ?? [],
  );
  const nowhere = inText.filter(
    (command) => !command.startsWith('npm run test:') && !blocks.includes(command),
  );
  expect(nowhere).toEqual([]);
});

it('Documents install this release’s archive, because the name on npm may be somebody else’s', () => {
  const installs = texts.flatMap((name) =>
    [...read(name).matchAll(/(?:npx|npm install|npm i)(?: -\S+)* ([^\s`|;&]*svc-queue[^\s`]*)/g)].map(
      ([, from = '']) => from,
    ),
  );
  expect(installs.length).toBeGreaterThan(4);
  const archives = [`./svc-queue-${manifest.version}.tgz`, './svc-queue-<new', './svc-queue-<old'];
  expect(installs.filter((from) => !archives.includes(from))).toEqual([]);
});

/** References: tests compare their tables with the code, or each row is a package, promise or command. */
const references = ['docs/settings.md', 'docs/dependencies.md', 'SECURITY.md', 'CONTRIBUTING.md'];

it.each(texts.filter((name) => !references.includes(name)))('The tables of %s have short cells', (name) => {
  const cells = withoutCode(read(name))
    .split('\n')
    .filter((line) => /^ *\|(?! *:?-)/.test(line))
    .flatMap((line) => line.split('|').map((cell) => cell.trim()));
  expect(cells.filter((cell) => cell.length >= 150)).toEqual([]);
});
