/**
 * Turns a handler into what Lambda runs: a folder with `index.mjs` and the parts it loads only when needed.
 */
import { createHash, randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { buildSync } from 'esbuild';

const root = resolve(import.meta.dirname, '..');

export const handlersDirectory = join(root, 'lambdas/handlers');

/**
 * What handlers import dynamically and is large: files, from the root, and packages, each with the name of the bundle it
 * becomes. That bundle is whole in itself. esbuild splits by module: left to that, a module which a handler and such a
 * part share would be in the cold start with all that only the part needs of it. The price is a copy in the part.
 */
const apart = {
  './lambdas/stores/bucket.ts': 'bucket',
  './lambdas/http/openapi/document.ts': 'document',
  '@aws-sdk/client-scheduler': 'scheduler',
};

/**
 * Bundles one handler and returns the folder, which is named by the hash of its content: the same source makes
 * the same folder (so the same asset, so no deployment), and two processes that bundle at once do not meet.
 */
export function bundle(handler: string, from = handlersDirectory): string {
  const files = withParts(build('index', join(from, `${handler}.ts`), Object.keys(apart)));
  const sorted = [...files].sort(([a], [b]) => (a < b ? -1 : 1));

  const hash = createHash('sha256');
  for (const [name, text] of sorted) hash.update(`${name}\0${Buffer.byteLength(text)}\0`).update(text);
  const folder = join(root, '.cache/bundles', `${handler}-${hash.digest('hex').slice(0, 16)}`);
  if (existsSync(folder)) return folder;

  const draft = `${folder}.${randomUUID()}`;
  mkdirSync(draft, { recursive: true });
  for (const [name, text] of sorted) writeFileSync(join(draft, name), text);
  try {
    renameSync(draft, folder);
  } catch (error) {
    rmSync(draft, { recursive: true });
    if (!existsSync(folder)) throw error; // Otherwise another process was first, with the same content.
  }
  return folder;
}

/** Texts by their files' names. */
type Files = ReadonlyMap<string, string>;

/** Adds the parts that a handler imports, and has it import them from beside itself. */
function withParts(handler: Files): Files {
  let linked = [...handler];
  const parts: (readonly [string, string])[] = [];
  for (const [source, part] of Object.entries(apart)) {
    const imported = `import("${source}")`;
    if (!linked.some(([, text]) => text.includes(imported))) continue;
    linked = linked.map(([name, text]) => [name, text.replaceAll(imported, `import("./${part}.mjs")`)]);
    parts.push(...buildPart(part, source));
  }
  return new Map([...linked, ...parts]);
}

/** Most handlers have the same parts: a process bundles each of them once. */
const builtParts = new Map<string, Files>();

function buildPart(name: string, source: string): Files {
  const files = builtParts.get(name) ?? build(name, source);
  builtParts.set(name, files);
  return files;
}

/** Bundles a file or a package into `<name>.mjs` and its chunks, and leaves what is external as it is imported. */
function build(name: string, source: string, external: string[] = []): Files {
  const { outputFiles } = buildSync({
    absWorkingDir: root,
    entryPoints: { [name]: source },
    // Nothing is written there, but external files are imported relative to it: by the names they have in `apart`.
    outdir: root,
    write: false,
    bundle: true,
    external,
    platform: 'node',
    target: 'node24',
    format: 'esm',
    outExtension: { '.js': '.mjs' },
    // What the SDK imports dynamically stays out of the cold start.
    splitting: true,
    chunkNames: '[name]-[hash]',
    minify: true,
    legalComments: 'none',
    mainFields: ['module', 'main'],
    alias: { '@aws-sdk/credential-provider-node': join(root, 'lib/bundle/lambdaCredentials.ts') },
    // CommonJS dependencies call `require` for Node's own modules; an ES module has none.
    banner: {
      js: "import{createRequire}from'node:module';const require=createRequire(import.meta.url);",
    },
    logLevel: 'error',
  });
  return new Map(outputFiles.map(({ path, text }) => [basename(path), text]));
}
