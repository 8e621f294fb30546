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
 * Bundles one handler and returns the folder, which is named by the hash of its content: the same source makes
 * the same folder (so the same asset, so no deployment), and two processes that bundle at once do not meet.
 */
export function bundle(handler: string, from = handlersDirectory): string {
  const outdir = join(root, '.cache/bundles');
  const { outputFiles } = buildSync({
    absWorkingDir: root,
    entryPoints: { index: join(from, `${handler}.ts`) },
    outdir,
    write: false,
    bundle: true,
    platform: 'node',
    target: 'node24',
    format: 'esm',
    outExtension: { '.js': '.mjs' },
    // What a handler imports dynamically (the S3 client, for the few big bodies) stays out of its cold start.
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
  const files = outputFiles
    .map((file) => ({ name: basename(file.path), contents: file.contents }))
    .sort((a, b) => (a.name < b.name ? -1 : 1));

  const hash = createHash('sha256');
  for (const file of files) {
    hash.update(`${file.name}\0${file.contents.byteLength}\0`).update(file.contents);
  }
  const folder = join(outdir, `${handler}-${hash.digest('hex').slice(0, 16)}`);
  if (existsSync(folder)) return folder;

  const draft = `${folder}.${randomUUID()}`;
  mkdirSync(draft, { recursive: true });
  for (const file of files) writeFileSync(join(draft, file.name), file.contents);
  try {
    renameSync(draft, folder);
  } catch (error) {
    rmSync(draft, { recursive: true });
    if (!existsSync(folder)) throw error; // Otherwise another process was first, with the same content.
  }
  return folder;
}
