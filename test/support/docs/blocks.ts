import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../bundledStage.ts';

export interface Block {
  /** The document and line, such as `docs/api.md:20`. */
  readonly at: string;
  /** The language after the fence: `sh`, `ts`, `js`, `json`, `python`, `go`. */
  readonly language: string;
  readonly text: string;
  /** Code that comes before the block: the text of a comment `<!-- before: … -->` right above it. */
  readonly before: string;
}

export const documents: readonly string[] = [
  'README.md',
  ...['docs', 'docs/guides'].flatMap((folder) =>
    readdirSync(join(root, folder))
      .filter((name) => name.endsWith('.md'))
      .map((name) => `${folder}/${name}`),
  ),
];

const fenced = /(?:^<!-- before:([^]*?)-->\n\n?)?^( *)```(\w*)\n([^]*?)^\2```$/gm;

/** Reads a document's code blocks, in order. Blocks without a language are outlines or outputs. */
export function blocksOf(document: string): readonly Block[] {
  const text = readFileSync(join(root, document), 'utf8');
  return [...text.matchAll(fenced)].flatMap(([all, before = '', , language = '', code = ''], index) => {
    const start = [...text.matchAll(fenced)][index]?.index ?? 0;
    const line =
      text.slice(0, start).split('\n').length + (all.split('\n').length - code.split('\n').length - 1);
    return language === ''
      ? []
      : [{ at: `${document}:${line}`, language, text: code, before: before.trim() }];
  });
}

const heredocs = /^cat > (\S+)\.(mjs|js|ts|mts) <<'(\w+)'\n([^]*?)^\3$/gm;

/** The programs that a shell block writes into files. */
export const programsIn = ({ at, language, text }: Block): readonly Block[] =>
  language === 'sh'
    ? [...text.matchAll(heredocs)].map(([, name = '', kind = '', , code = '']) => ({
        at: `${at}, ${name}.${kind}`,
        language: kind.replace('m', ''),
        text: code,
        before: '',
      }))
    : [];
