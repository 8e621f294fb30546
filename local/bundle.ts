/**
 * Bundles the local stage. From its sources it would run slower: tsx has every function named again whenever it is made, which is
 * a quarter of what a message takes of the processor.
 */
import { randomUUID } from 'node:crypto';
import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { buildSync, type BuildOptions } from 'esbuild';

const root = join(import.meta.dirname, '..');

/** How what runs on a developer's machine is bundled. */
export const bundling = {
  absWorkingDir: root,
  bundle: true,
  platform: 'node',
  target: 'node20',
  format: 'esm',
  // The stage builds the console with it.
  external: ['esbuild'],
  mainFields: ['module', 'main'],
  outExtension: { '.js': '.mjs' },
  // CommonJS dependencies call `require` for Node's own modules; an ES module has none.
  banner: {
    js: "import{createRequire as makeRequire}from'node:module';const require=makeRequire(import.meta.url);",
  },
  logLevel: 'error',
} as const satisfies BuildOptions;

/** What `npm start` runs. */
export const stageBundle = join(root, '.cache/stage.mjs');

/**
 * Bundles the stage into one file, with what leads from its lines to those of the sources. The file is put into its place whole, so
 * another stage may start at the same moment.
 */
export function bundleStage(): void {
  const { outputFiles } = buildSync({
    ...bundling,
    entryPoints: { stage: 'bin/local.ts' },
    outdir: dirname(stageBundle),
    write: false,
    sourcemap: 'inline',
    sourcesContent: false,
  });
  const draft = `${stageBundle}.${randomUUID()}`;
  mkdirSync(dirname(stageBundle), { recursive: true });
  for (const { contents } of outputFiles) writeFileSync(draft, contents);
  renameSync(draft, stageBundle);
}
