/** Builds the console: bundles its source, names each file by its content, and compresses it. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { basename, extname, join } from 'node:path';
import { brotliCompressSync, constants } from 'node:zlib';
import { type BuildOptions, buildSync, type Metafile } from 'esbuild';
import { root } from '../site/pages.ts';
import { makeDocuments } from './documents.ts';
import { writeFolder } from './writeFolder.ts';

const hashed = (name: string, content: Uint8Array): string => {
  const end = extname(name);
  const hash = createHash('sha256').update(content).digest('hex').slice(0, 10);
  return `${basename(name, end)}-${hash}${end}`;
};

/** Compressed as `<name>.br`, from which the service makes other encodings. Pictures are compressed already. */
const compressed = (name: string, content: Uint8Array): readonly [string, Uint8Array] =>
  name.endsWith('.webp')
    ? [name, content]
    : [`${name}.br`, brotliCompressSync(content, { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } })];

export const consoleBuild = {
  absWorkingDir: root,
  entryPoints: {
    app: 'console/src/main.tsx',
    style: 'console/src/style.css',
    documents: 'console/documents.css',
  },
  outdir: join(root, 'console/built'),
  write: false,
  bundle: true,
  entryNames: '[name]-[hash]',
  // Lazily loaded code and shared code are in separate files.
  splitting: true,
  metafile: true,
  chunkNames: '[name]-[hash]',
  minify: true,
  format: 'esm',
  platform: 'browser',
  target: ['chrome123', 'firefox120', 'safari17.5'],
  jsx: 'automatic',
  jsxImportSource: 'preact',
  legalComments: 'none',
  logLevel: 'error',
} satisfies BuildOptions;

/** Writes links that make the browser load a script's imports together with the script. */
function sharedBy({ outputs }: Metafile, script: string): string {
  const imports = (path: string): readonly string[] =>
    (outputs[path]?.imports ?? []).flatMap(({ kind, path: own }) =>
      kind === 'import-statement' ? [own, ...imports(own)] : [],
    );
  const entry = Object.keys(outputs).find((path) => basename(path) === basename(script)) ?? '';
  const links = [...new Set(imports(entry))].map(
    (path) => `<link rel="modulepreload" href="console/${basename(path)}" />`,
  );
  return links.join('\n    ');
}

/** @returns the files by name, compressed; `index.html` and pictures are not */
export function buildConsole(): ReadonlyMap<string, Uint8Array> {
  const { outputFiles, metafile } = buildSync(consoleBuild);
  const icon = readFileSync(join(root, 'console/icon.svg'));
  const files = new Map<string, Uint8Array>([
    ...outputFiles.map(({ path, contents }) => [basename(path), contents] as const),
    [hashed('icon.svg', icon), icon],
  ]);
  const named = (start: string, end: string): string => {
    const name = [...files.keys()].find((one) => one.startsWith(`${start}-`) && one.endsWith(end));
    if (name === undefined) throw new Error(`The console's build made no ${start}${end}.`);
    return name;
  };
  const documents = makeDocuments(named('documents', '.css'), named('icon', '.svg'));
  const page = readFileSync(join(root, 'console/index.html'), 'utf8')
    .replace('%ICON%', `console/${named('icon', '.svg')}`)
    .replace('%STYLE%', `console/${named('style', '.css')}`)
    .replace('%SCRIPT%', `console/${named('app', '.js')}`)
    .replace('%SHARED%', sharedBy(metafile, named('app', '.js')));
  return new Map([
    ...[...files, ...documents].map(([name, content]) => compressed(name, content)),
    // The service fills in the page when it serves it.
    ['index.html', Buffer.from(page)] as const,
  ]);
}

export const writeConsole = (): string => writeFolder(join(root, '.cache/console'), buildConsole());
