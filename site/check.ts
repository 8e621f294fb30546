/** Checks the built site: its links and pictures, that it needs no other host, and what its search finds. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import MiniSearch from 'minisearch';
import { errorCodes } from '../lambdas/error/errorCodes.ts';
import { settings } from '../lambdas/options/described.ts';
import { headerName } from '../lambdas/shared/headers.ts';
import { settingNames } from '../lib/settings.ts';
import { addresses, root, titleOf } from './pages.ts';
import { searchOptions, tokenize } from './.vitepress/words.ts';

const dist = join(import.meta.dirname, 'dist');
const base = process.env['DOCS_BASE'] ?? '/';
const pages = new Map(
  [...addresses.values()].map((address) => [address, readFileSync(join(dist, `${address}.html`), 'utf8')]),
);
const faults: string[] = [];

const decoded = (text: string): string => decodeURIComponent(text.replaceAll('&amp;', '&'));
const valuesOf = (html: string, attribute: string): readonly string[] =>
  [...html.matchAll(new RegExp(`\\s${attribute}="([^"]*)"`, 'g'))].map(([, value = '']) => decoded(value));

const ids = new Map([...pages].map(([address, html]) => [address, new Set(valuesOf(html, 'id'))]));

function faultIn(from: string, link: string): string | undefined {
  if (/^(?:https?|data):/.test(link)) return undefined;
  const [path = '', anchor = ''] = link.split('#');
  if (path !== '' && !path.startsWith(base)) return 'is outside of the site';
  const address = path === '' ? from : path.slice(base.length).replace(/\/$/, '') || 'index';
  const known = ids.get(address);
  if (known === undefined) return existsSync(join(dist, address)) ? undefined : 'is not in the site';
  return anchor === '' || known.has(anchor) ? undefined : 'has no such heading';
}

for (const [address, html] of pages) {
  for (const link of new Set([...valuesOf(html, 'href'), ...valuesOf(html, 'src')])) {
    const fault = faultIn(address, link);
    if (fault !== undefined) faults.push(`${address}: ${link} ${fault}.`);
  }
  if (/<(?:script|img|link)\b[^>]*\s(?:src|href)="https?:/.test(html))
    faults.push(`${address} loads something from another host.`);
  if (html.includes('<!-- before')) faults.push(`${address} shows the code for tests.`);
}
if (!/<img src="[^"]*\/life\.[^"]*webp"/.test(pages.get('index') ?? ''))
  faults.push('The first page has no picture of the console.');

const chunks = join(dist, 'assets/chunks');
const [indexFile = ''] = readdirSync(chunks).filter((name) => name.startsWith('@localSearchIndex'));
const built: unknown = ((await import(join(chunks, indexFile))) as { readonly default: unknown }).default;
if (typeof built !== 'string') throw new Error(`${indexFile} has no index of the search.`);
const index = MiniSearch.loadJSON(built, {
  fields: ['title', 'titles', 'text'],
  storeFields: ['title', 'titles'],
  tokenize,
});
const found = (words: string): readonly string[] =>
  index.search(words, searchOptions).map(({ id }) => String(id).slice(base.length));

/** Reports words if none of the first results is right. */
function expectFound(words: string, first: number, isRight: (id: string) => boolean): void {
  const results = found(words).slice(0, first);
  if (!results.some(isRight))
    faults.push(`The search does not find ${words}, but ${results.join(', ') || 'nothing'}.`);
}

for (const code of Object.keys(errorCodes)) expectFound(code, 1, (id) => id === `errors#${code}`);
for (const name of settingNames) expectFound(name, 3, (id) => id.startsWith('settings#'));

const inDeliveries =
  readFileSync(join(root, 'docs/receiving.md'), 'utf8').match(/\bSvc(?:-[A-Z]\w+)+/g) ?? [];
const headers = new Set([
  ...Object.keys(settings).map((name) => headerName('Svc', name.replace('-*', ''))),
  ...inDeliveries,
]);
for (const header of headers)
  expectFound(header, 3, (id) => pages.get(id.replace(/#.*/, ''))?.includes(header) === true);

for (const address of pages.keys())
  if (/^(?:guides|quick-starts)\//.test(address))
    expectFound(titleOf(address), 3, (id) => id.replace(/#.*/, '') === address);

if (faults.length > 0) {
  console.error(faults.join('\n'));
  process.exit(1);
}
console.log(
  `${pages.size} pages: all links lead somewhere, and the search finds each code, setting, header and guide.`,
);
