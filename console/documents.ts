/** Makes the pages of the documents, which the service serves beside its console. */
import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { Marked, type Token } from 'marked';
import {
  addresses,
  codeOnPage,
  root,
  sectionsOfPages,
  slugify,
  targetOf,
  titleOf,
  version,
} from '../site/pages.ts';

/** The name of a page's file, without `.html`. All files are in one folder. */
const nameOf = (page: string): string => (page === 'index' ? 'documents' : page.replaceAll('/', '-'));

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');

interface Heading {
  readonly id: string;
  readonly text: string;
}

/** Renders one document. Its links lead to the other pages, and `linked` gets the files that it shows or links to. */
function render(document: string, linked: Set<string>) {
  const headings: Heading[] = [];
  const plain = (tokens: readonly Token[]): string =>
    tokens
      .map((token) =>
        'tokens' in token && token.tokens ? plain(token.tokens) : 'text' in token ? String(token.text) : '',
      )
      .join('');
  const marked = new Marked({
    walkTokens: (token) => {
      if (token.type !== 'link' && token.type !== 'image') return;
      const text = String(token['text']);
      const target = targetOf(document, String(token['href']), text);
      if (target === undefined) return;
      if ('file' in target) {
        linked.add(target.file);
        token['href'] = basename(target.file);
        return;
      }
      token['href'] = `${nameOf(target.page)}.html${target.anchor}`;
      if (target.text !== text) token.tokens = [{ type: 'text', raw: target.text, text: target.text }];
    },
    renderer: {
      heading({ tokens, depth }) {
        const text = plain(tokens);
        const id = slugify(text);
        if (depth > 1) headings.push({ id, text });
        return `<h${depth} id="${id}">${this.parser.parseInline(tokens)}</h${depth}>\n`;
      },
      // Comments have code for tests.
      html: ({ text }) => (text.startsWith('<!--') ? '' : text),
    },
  });
  const body = marked.parse(codeOnPage(readFileSync(join(root, document), 'utf8')), { async: false });
  // Keys reach each part that scrolls sideways.
  return { body: body.replaceAll(/<(pre|table)>/g, '<$1 tabindex="0">'), headings };
}

const navigation = (sections: ReturnType<typeof sectionsOfPages>, current: string): string =>
  sections
    .map(({ section, pages }) => {
      const links = pages.map(({ page, title }) => {
        const mark = page === current ? ' aria-current="page"' : '';
        return `<li><a href="${nameOf(page)}.html"${mark}>${escaped(title)}</a></li>`;
      });
      return `<h2>${section}</h2><ul>${links.join('')}</ul>`;
    })
    .join('\n');

/**
 * @param style the name of the style sheet
 * @param icon the name of the icon
 * @returns the files by name: the pages, what they show or link to, and `documents.json`, in which the console searches
 */
export function makeDocuments(style: string, icon: string): ReadonlyMap<string, Uint8Array> {
  const sections = sectionsOfPages();
  const linked = new Set<string>();
  const files = new Map<string, Uint8Array>();
  const index = [...addresses].map(([document, page]) => {
    const title = titleOf(page);
    const { body, headings } = render(document, linked);
    const html = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <meta name="color-scheme" content="light dark" />
    <title>${escaped(title)} · svc-queue</title>
    <link rel="icon" href="${icon}" />
    <link rel="stylesheet" href="${style}" />
  </head>
  <body>
    <header><a href="../console">Console</a> <a href="documents.html">svc-queue ${version}</a> <a href="#pages">All pages</a></header>
    <main>
${body}</main>
    <nav id="pages" aria-label="Pages">
${navigation(sections, page)}
    </nav>
  </body>
</html>
`;
    files.set(`${nameOf(page)}.html`, Buffer.from(html));
    return { page: nameOf(page), title, headings };
  });
  for (const file of linked) files.set(basename(file), readFileSync(join(root, file)));
  files.set('documents.json', Buffer.from(JSON.stringify(index)));
  return files;
}
