/** `prepack`: makes `dist/`, with everything that the package runs, so that users need no compiler and no bundler. */
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, mkdirSync, writeFileSync } from 'node:fs';
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createRequire } from 'node:module';
import { dirname, join, relative, resolve } from 'node:path';
import { build } from 'esbuild';
import { consoleBuild } from '../console/build.ts';
import { bundle, handlersDirectory } from '../lib/bundle.ts';
import { commandBuild, constructBuild, dist } from './bundles.ts';
import { functionTable, receiverFile } from './madeAhead.ts';
import { receiverCode } from '../verify/after/receiver/receiverCode.ts';

const root = resolve(import.meta.dirname, '..');

/** The declarations that a file imports, directly or indirectly, including its own. */
function reachedFrom(file: string, reached = new Set<string>()): ReadonlySet<string> {
  if (reached.has(file)) return reached;
  reached.add(file);
  for (const [, path = ''] of readFileSync(file, 'utf8').matchAll(/'(\.[^']+)\.ts'/g))
    reachedFrom(resolve(dirname(file), `${path}.d.ts`), reached);
  return reached;
}

/** Writes only the construct's declarations; private code has none. */
function writeDeclarations(): void {
  const all = mkdtempSync(join(root, '.cache', 'declarations-'));
  const compiler = join(
    dirname(createRequire(import.meta.url).resolve('typescript/package.json')),
    'bin/tsc',
  );
  try {
    execFileSync(process.execPath, [compiler, '-p', 'pack/tsconfig.json', '--outDir', all], {
      cwd: root,
      stdio: ['ignore', 'inherit', 'inherit'],
    });
    for (const file of reachedFrom(join(all, 'lib/index.d.ts'))) {
      const to = join(dist, 'types', relative(all, file));
      mkdirSync(dirname(to), { recursive: true });
      // Other compiler versions may not accept the names of sources.
      writeFileSync(to, readFileSync(file, 'utf8').replaceAll(/'(\.[^']+)\.ts'/g, "'$1.js'"));
    }
  } finally {
    rmSync(all, { recursive: true });
  }
}

/** Writes the licences of bundled packages, as they require. */
function writeLicences(inputs: readonly string[]): void {
  const folders = new Set(
    inputs.flatMap((path) => /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)/.exec(path)?.[1] ?? []),
  );
  const texts = [...folders].sort().map((folder) => {
    const file = readdirSync(join(root, folder)).find((name) => /^licen[cs]e(\.|$)/i.test(name));
    const text = file === undefined ? 'See its package.' : readFileSync(join(root, folder, file), 'utf8');
    return `${folder.replace(/.*node_modules\//, '')}\n\n${text.trim()}\n`;
  });
  writeFileSync(join(dist, 'licences.txt'), texts.join(`\n${'-'.repeat(80)}\n\n`));
}

/** Writes the functions. A file that several functions share is stored once, because most load the same parts. */
function writeFunctions(handlers: readonly string[]): void {
  const stored = new Map<string, string>();
  const table: Record<string, Record<string, string>> = {};
  for (const handler of handlers) {
    const folder = bundle(handler);
    const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((file) =>
      file.isFile(),
    );
    const paths = files.map(({ parentPath, name }) => relative(folder, join(parentPath, name)));
    table[handler] = Object.fromEntries(
      paths.map((path) => {
        const content = readFileSync(join(folder, path));
        const hash = createHash('sha256').update(content).digest('hex');
        const place = stored.get(hash) ?? join(handler, path);
        if (!stored.has(hash)) cpSync(join(folder, path), join(dist, 'functions', place));
        stored.set(hash, place);
        return [path, place];
      }),
    );
  }
  writeFileSync(join(dist, 'functions', functionTable), JSON.stringify(table));
  writeFileSync(join(dist, 'functions', receiverFile), receiverCode());
}

rmSync(dist, { recursive: true, force: true });
// The command contains the functions, for the local stage.
const builds = [constructBuild, commandBuild, consoleBuild].map((options) =>
  build({ ...options, write: options !== consoleBuild, metafile: true }),
);
writeLicences((await Promise.all(builds)).flatMap(({ metafile }) => Object.keys(metafile.inputs)));
writeFunctions(readdirSync(handlersDirectory).map((file) => file.replace(/\.ts$/, '')));
writeDeclarations();
