/** Bundles a handler for Lambda: makes a folder with `index.mjs`, and with parts that it loads only when it needs them. */
import { basename, join, resolve } from 'node:path';
import { type BuildOptions, buildSync } from 'esbuild';
import { buildConsole } from '../console/build.ts';
import { writeFolder } from '../console/writeFolder.ts';

const root = resolve(import.meta.dirname, '..');

export const handlersDirectory = join(root, 'lambdas/handlers');

/**
 * The large parts that handlers import dynamically: files, from the root, and packages, each with the name of its bundle. Such a
 * bundle contains all its imports. Without this table esbuild would put a module that a handler shares with a part into the cold
 * start, with everything that only the part needs of it. The price is a second copy, in the part.
 */
const apart = {
  './lambdas/message/store/bucket.ts': 'bucket',
  './lambdas/delivery/client/sending.ts': 'sending',
  './lambdas/http/openapi/served.ts': 'description',
  '@aws-sdk/client-scheduler': 'scheduler',
};

/**
 * Bundles one handler and returns the folder. Its name is the hash of its content, so the same source makes the same asset, which
 * is not deployed again, and two processes can bundle at once.
 */
export function bundle(handler: string, from = handlersDirectory): string {
  const files = [
    ...withParts(build('index', join(from, `${handler}.ts`), Object.keys(apart))),
    ...(handler === 'console' ? consoleFiles() : []),
  ];
  return writeFolder(join(root, '.cache/bundles', handler), files);
}

/** The files of the console, in a separate folder. They are built once for both APIs. */
function consoleFiles(): readonly (readonly [string, Uint8Array])[] {
  builtConsole ??= buildConsole();
  return [...builtConsole].map(([name, content]) => [`console/${name}`, content]);
}
let builtConsole: ReadonlyMap<string, Uint8Array> | undefined;

/** The text of each file, by name. */
type Files = ReadonlyMap<string, string>;

/** Adds the parts that a handler imports, and lets the handler import them from its own folder. */
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

/** The options of every bundle that runs on Lambda. */
export const lambdaBuild = {
  absWorkingDir: root,
  // esbuild writes nothing there, but imports external files relative to it, with their names in `apart`.
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
  // CommonJS dependencies call `require` for Node's own modules, which ES modules lack.
  banner: {
    js: "import{createRequire}from'node:module';const require=createRequire(import.meta.url);",
  },
  logLevel: 'error',
} satisfies BuildOptions;

/** Bundles a file or a package into `<name>.mjs` and its chunks, with external imports unchanged. */
function build(name: string, source: string, external: string[] = []): Files {
  const { outputFiles } = buildSync({ ...lambdaBuild, entryPoints: { [name]: source }, external });
  return new Map(outputFiles.map(({ path, text }) => [basename(path), text]));
}
