import { basename, join, resolve } from 'node:path';
import { type BuildOptions, buildSync } from 'esbuild';
import { buildConsole } from '../console/build.ts';
import { writeFolder } from '../console/writeFolder.ts';

const root = resolve(import.meta.dirname, '..');

export const handlersDirectory = join(root, 'lambdas/handlers');

/**
 * Large files and packages that handlers import dynamically, by the names of their bundles. Each bundle
 * contains all its imports. Otherwise esbuild would move modules that handlers also import into the cold
 * start. So these modules are bundled twice.
 */
const apart = {
  './lambdas/message/store/bucket.ts': 'bucket',
  './lambdas/bulk/step.ts': 'bulk',
  './lambdas/delivery/client/sending.ts': 'sending',
  './lambdas/http/openapi/served.ts': 'description',
  '@aws-sdk/client-scheduler': 'scheduler',
};

/**
 * Bundles one handler, without modules that it imports but does not use (`sideEffects` in package.json). The
 * folder's name is a content hash. So an unchanged handler is not deployed again, and two processes can
 * bundle at the same time.
 */
export function bundle(handler: string, from = handlersDirectory): string {
  const files = [
    ...withParts(build('index', join(from, `${handler}.ts`), Object.keys(apart))),
    ...(handler === 'console' ? consoleFiles() : []),
  ];
  return writeFolder(join(root, '.cache/bundles', handler), files);
}

/** Built only once, for both APIs. */
function consoleFiles(): readonly (readonly [string, Uint8Array])[] {
  builtConsole ??= buildConsole();
  return [...builtConsole].map(([name, content]) => [`console/${name}`, content]);
}
let builtConsole: ReadonlyMap<string, Uint8Array> | undefined;

/** By file name. */
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

/** Most handlers import the same parts, so each part is bundled once. */
const builtParts = new Map<string, Files>();

function buildPart(name: string, source: string): Files {
  const files = builtParts.get(name) ?? build(name, source);
  builtParts.set(name, files);
  return files;
}

export const lambdaBuild = {
  absWorkingDir: root,
  // esbuild writes nothing here; the names in `apart` are relative to this folder.
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

/** Bundles a file or a package into `<name>.mjs` and its chunks. */
function build(name: string, source: string, external: string[] = []): Files {
  const { outputFiles } = buildSync({ ...lambdaBuild, entryPoints: { [name]: source }, external });
  return new Map(outputFiles.map(({ path, text }) => [basename(path), text]));
}
