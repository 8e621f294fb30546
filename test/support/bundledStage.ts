import { rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { build, type BuildOptions } from 'esbuild';
import type { TestProject } from 'vitest/node';

export const root = resolve(import.meta.dirname, '../..');

declare module 'vitest' {
  interface ProvidedContext {
    /** The bundled command, which by default starts the local stage. */
    bundledStage: string;
  }
}

export const bundling = {
  bundle: true,
  splitting: true,
  platform: 'node',
  target: 'node20',
  format: 'esm',
  // The stage needs esbuild for the console and lmdb for its data. Deployments need the rest.
  external: ['esbuild', 'lmdb', 'aws-cdk-lib', 'constructs'],
  mainFields: ['module', 'main'],
  outExtension: { '.js': '.mjs' },
  // CommonJS dependencies call `require` for Node's modules, which ES modules lack.
  banner: {
    js: "import{createRequire as makeRequire}from'node:module';const require=makeRequire(import.meta.url);",
  },
  logLevel: 'error',
} as const satisfies BuildOptions;

const folderOf = (project: TestProject): string =>
  join(root, '.cache', `stage-${project.name}-${process.pid}`);

export const bundleOf = (project: TestProject): string => join(folderOf(project), 'stage.mjs');

/** Bundles the command once for a project's tests: a bundle starts in a third of the time. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const folder = folderOf(project);
  await build({
    absWorkingDir: root,
    entryPoints: { stage: 'test/support/stageProgram.ts' },
    outdir: folder,
    ...bundling,
  });
  project.provide('bundledStage', bundleOf(project));
  // Stages of the tests may still be ending.
  return () => rm(folder, { recursive: true, force: true, maxRetries: 5 });
}
