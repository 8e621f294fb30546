/** The documents as pages, on the site and beside the console, and the order of both. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import manifest from '../package.json' with { type: 'json' };

export const { version } = manifest;

/** The repository's folder. This file runs from source, or from a bundle in a folder below. */
export const root = (function above(folder: string): string {
  return existsSync(join(folder, 'console/index.html')) ? folder : above(dirname(folder));
})(import.meta.dirname);

/** Documents outside of `docs/`, and their addresses. */
const others: Readonly<Record<string, string>> = {
  'README.md': 'index',
  'CONTRIBUTING.md': 'contributing',
  'CHANGELOG.md': 'changelog',
  'SECURITY.md': 'security',
  'lambdas/README.md': 'lambdas',
  'test/differential/README.md': 'differential',
};

const documents = readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.md'))
  .sort();

/** The address of each document, without a slash at its beginning. */
export const addresses: ReadonlyMap<string, string> = new Map([
  ...Object.entries(others),
  ...documents.map((name) => [`docs/${name}`, name.replace(/\.md$/, '')] as const),
]);

const within = (folder: string): readonly string[] =>
  [...addresses.values()].filter((address) => address.startsWith(`${folder}/`));

const sections: Readonly<Record<string, readonly string[]>> = {
  Start: ['index', ...within('quick-starts'), 'local-stage', 'migration', 'apps'],
  Guides: within('guides'),
  'For users': [
    'publishing',
    'receiving',
    'messages',
    'workflows',
    'lanes',
    'later',
    'aws-destinations',
    'alarms',
  ],
  'For operators': [
    'deploy',
    'server',
    'cdk',
    'verify',
    'operate',
    'failures',
    'recovery',
    'removal',
    'network',
    'proxy',
    'tls',
    'cost',
    'scale',
  ],
  Reference: ['api', 'errors', 'settings', 'limits', 'metrics', 'conformance'],
  Project: [
    'changelog',
    'security',
    'contributing',
    'design',
    'lambdas',
    'differential',
    'writing',
    'dependencies',
  ],
};

export function titleOf(address: string): string {
  const [file = ''] = [...addresses].find(([, known]) => known === address) ?? [];
  const [, title] = /^# (.+)$/m.exec(readFileSync(join(root, file), 'utf8')) ?? [];
  if (title === undefined) throw new Error(`${file} has no first heading, which the sidebar shows.`);
  return title.replaceAll('`', '');
}

/**
 * @returns the pages of each section
 * @throws Error that names the documents without a section
 */
export function sectionsOfPages() {
  const shown = new Set(Object.values(sections).flat());
  const missing = [...addresses.values()].filter((address) => !shown.has(address));
  if (missing.length > 0) throw new Error(`site/pages.ts has no section for ${missing.join(', ')}.`);
  return Object.entries(sections).flatMap(([section, pages]) =>
    pages.length === 0
      ? []
      : [
          {
            section,
            pages: pages.map((page) => ({ page, title: page === 'index' ? 'Overview' : titleOf(page) })),
          },
        ],
  );
}

/** The link of a page on the site. */
export const addressOf = (page: string): string => (page === 'index' ? '/' : `/${page}`);

/** The anchors of the repository's hosting site: words in lower case, joined by hyphens. */
export const slugify = (heading: string): string =>
  heading
    .toLowerCase()
    .trim()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(/\s/g, '-');

type Target =
  /** The anchor is empty, or starts with `#`. The text is the page's title instead of the name of its file. */
  { readonly page: string; readonly anchor: string; readonly text: string } | { readonly file: string };

/**
 * Finds the page that a document links to, or the file, of which the site has a copy.
 *
 * @param document the path of its file from the root
 * @returns undefined if the link stays on its page or leaves the documents
 * @throws Error if there is no such file
 */
export function targetOf(document: string, link: string, text: string): Target | undefined {
  if (/^(?:#|\w+:)/.test(link)) return undefined;
  const [path = '', ...anchor] = link.split(/(?=#)/);
  const file = posix.join(posix.dirname(document), path);
  const page = addresses.get(file);
  const isFileName = /^(?:docs\/)?[\w-]+\.md$/.test(text);
  if (page !== undefined) return { page, anchor: anchor.join(''), text: isFileName ? titleOf(page) : text };
  if (!existsSync(join(root, file))) throw new Error(`${document} links to ${link}, which does not exist.`);
  return { file };
}

/** Commands on pages install this. A release changes it to `svc-queue`, a name that is not registered yet: see SECURITY.md. */
const installed = './svc-queue-0.1.0.tgz';

/** Code on a page, from a document's code, which installs the archive. */
export const codeOnPage = (code: string): string => code.replaceAll('./svc-queue-0.1.0.tgz', installed);
