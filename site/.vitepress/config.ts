import { cpSync } from 'node:fs';
import { join } from 'node:path';
import type { MarkdownEnv, MarkdownOptions } from 'vitepress';
import { defineConfig } from 'vitepress';
import type { Plugin } from 'vite';
import {
  addresses,
  addressOf,
  codeOnPage,
  root,
  sectionsOfPages,
  slugify,
  targetOf,
  version,
} from '../pages.ts';
import { searchOptions, tokenize } from './words.ts';

/** The path of the site: pages of a repository on GitHub are below its name. */
const base = process.env['DOCS_BASE'] ?? '/';

/** Linked files that are not pages. */
const files = new Set<string>();

const markdown: MarkdownOptions = {
  anchor: { slugify },
  config: (md) => {
    md.core.ruler.before('normalize', 'installed', (state) => {
      state.src = codeOnPage(state.src);
    });
    md.core.ruler.push('documents', (state) => {
      const { path, realPath } = state.env as MarkdownEnv;
      const document = (realPath ?? path).slice(root.length + 1);
      // Comments have code for tests.
      state.tokens = state.tokens.filter(
        ({ type, content }) => type !== 'html_block' || !content.startsWith('<!--'),
      );
      for (const { children } of state.tokens)
        for (const [at, token] of children?.entries() ?? []) {
          const link = token.type === 'link_open' ? token.attrGet('href') : null;
          if (link === null) continue;
          const text = children?.[at + 1];
          const target = targetOf(document, link, text?.content ?? '');
          if (target === undefined) continue;
          if ('file' in target) {
            files.add(target.file);
            token.attrSet('href', `${base}${target.file}`);
            token.attrSet('target', '_blank');
          } else {
            token.attrSet('href', addressOf(target.page) + target.anchor);
            if (text !== undefined) text.content = target.text;
          }
        }
    });
  },
};

/** The documents are outside of this folder, so they do not find its packages. */
const packages: Plugin = {
  name: 'packages',
  enforce: 'pre',
  resolveId(id, importer, options) {
    if (!/^vue(?:$|\/)/.test(id)) return undefined;
    if (options.ssr === true) return { id, external: true };
    if (importer?.endsWith('.md') !== true) return undefined;
    return this.resolve(id, import.meta.filename, { ...options, skipSelf: true });
  },
};

export default defineConfig({
  title: 'svc-queue',
  description: 'Reliable HTTP messaging that runs in your own AWS account, or on your laptop',
  lang: 'en',
  srcDir: root,
  srcExclude: [
    '!(docs|lambdas|test)/*',
    '!(docs|lambdas|test)/*/**',
    'lambdas/*/**',
    'test/!(differential)/**',
  ],
  outDir: join(root, 'site/dist'),
  cacheDir: join(root, 'site/.cache'),
  base,
  cleanUrls: true,
  rewrites: Object.fromEntries([...addresses].map(([file, address]) => [file, `${address}.md`])),
  markdown,
  vite: { plugins: [packages] },
  themeConfig: {
    nav: [
      { text: 'Start', link: '/' },
      { text: 'API', link: '/api' },
      { text: 'Errors', link: '/errors' },
      { text: `Version ${version}`, link: '/changelog' },
    ],
    sidebar: sectionsOfPages().map(({ section, pages }) => ({
      text: section,
      items: pages.map(({ page, title }) => ({ text: title, link: addressOf(page) })),
    })),
    outline: [2, 3],
    search: {
      provider: 'local',
      options: { miniSearch: { options: { tokenize }, searchOptions } },
    },
  },
  buildEnd: ({ outDir }) => {
    for (const file of files) cpSync(join(root, file), join(outDir, file));
  },
});
