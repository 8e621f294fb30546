import { basename, join, resolve } from 'node:path';
import { type BuildOptions, buildSync } from 'esbuild';
import { buildConsole } from '../console/build.ts';
import { writeFolder } from '../console/writeFolder.ts';

const root = resolve(import.meta.dirname, '..');

export const handlersDirectory = join(root, 'lambdas/handlers');

/**
 * Large files and packages that handlers import dynamically, each with the name of its own bundle, which contains all its
 * imports. Otherwise esbuild would move modules that a handler shares with such a part into the cold start, with everything
 * they import. The price is a second copy of them.
 */
const apart = {
  './lambdas/message/store/bucket.ts': 'bucket',
  './lambdas/delivery/client/sending.ts': 'sending',
  './lambdas/http/openapi/served.ts': 'description',
  '@aws-sdk/client-scheduler': 'scheduler',
};

/**
 * Bundles one handler and returns the folder. The folder is named after the hash of its content, so an unchanged handler is not
 * deployed again, and two processes can bundle at once.
 */
export function bundle(handler: string, from = handlersDirectory): string {
  const files = [
    ...withParts(build('index', join(from, `${handler}.ts`), Object.keys(apart))),
    ...(handler === 'console' ? consoleFiles() : []),
  ];
  return writeFolder(join(root, '.cache/bundles', handler), files);
}

/** The files of the console, built once for both APIs. */
function consoleFiles(): readonly (readonly [string, Uint8Array])[] {
  builtConsole ??= buildConsole();
  return [...builtConsole].map(([name, content]) => [`console/${name}`, content]);
}
let builtConsole: ReadonlyMap<string, Uint8Array> | undefined;

/** Texts by file name. */
type Files = ReadonlyMap<string, string>;

/** Adds the parts that a handler imports, and points its imports to them. */
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

/** Most handlers have the same parts, so each part is bundled once in a process. */
const builtParts = new Map<string, Files>();

function buildPart(name: string, source: string): Files {
  const files = builtParts.get(name) ?? build(name, source);
  builtParts.set(name, files);
  return files;
}

/** The options of every bundle for Lambda. */
export const lambdaBuild = {
  absWorkingDir: root,
  // esbuild writes nothing here, but the names in `apart` are relative to this folder.
  outdir: root,
  write: false,
  bundle: true,
  platform: 'node',
  target: 'node24',
  format: 'esm',
  outExtension: { '.js': '.mjs' },
  // Modules that the SDK imports dynamically stay out of the cold start.
  splitting: true,
  chunkNames: '[name]-[hash]',
  minify: true,
  legalComments: 'none',
  mainFields: ['module', 'main'],
  alias: { '@aws-sdk/credential-provider-node': join(root, 'lib/lambdaCredentials.ts') },
  // CommonJS dependencies call `require` for Node's own modules. ES modules have no `require`.
  banner: {
    js: "import{createRequire}from'node:module';const require=createRequire(import.meta.url);",
  },
  logLevel: 'error',
} satisfies BuildOptions;

/** Bundles a file or a package into `<name>.mjs` and its chunks. External imports stay as they are. */
function build(name: string, source: string, external: string[] = []): Files {
  const { outputFiles } = buildSync({ ...lambdaBuild, entryPoints: { [name]: source }, external });
  return new Map(outputFiles.map(({ path, text }) => [basename(path), text]));
}
