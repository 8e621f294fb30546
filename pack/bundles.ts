/** The options of the package's two bundles, with all libraries. */
import { join, resolve } from 'node:path';
import type { BuildOptions, Plugin } from 'esbuild';

const root = resolve(import.meta.dirname, '..');
export const dist = join(root, 'dist');

/** Replaces the modules that build something at run time by `madeAhead.ts`, because the package contains the results. */
const madeAhead: Plugin = {
  name: 'made-ahead',
  setup: (build) => {
    build.onResolve({ filter: /\/(lib\/)?bundle\.ts$|\/console\/build\.ts$|\/receiverCode\.ts$/ }, () => ({
      path: join(root, 'pack/madeAhead.ts'),
    }));
  },
};

const options = {
  absWorkingDir: root,
  bundle: true,
  platform: 'node',
  target: 'node20',
  format: 'esm',
  mainFields: ['module', 'main'],
  // Names are kept for the stacks of errors.
  minifySyntax: true,
  minifyWhitespace: true,
  legalComments: 'none',
  plugins: [madeAhead],
  logLevel: 'error',
} satisfies BuildOptions;

/** The construct. The CDK comes from the user's app. */
export const constructBuild = {
  ...options,
  entryPoints: { index: 'lib/index.ts' },
  outdir: dist,
  external: ['aws-cdk-lib', 'constructs'],
} satisfies BuildOptions;

/**
 * The command. Code that only one task needs is loaded for that task. npm installs lmdb, which has a binary for each platform.
 */
export const commandBuild = {
  ...options,
  entryPoints: { 'svc-queue': 'bin/svcQueue.ts' },
  outdir: join(dist, 'cli'),
  external: ['aws-cdk-lib', 'constructs', 'lmdb'],
  splitting: true,
  // CommonJS dependencies call `require` for Node's modules, which ES modules lack.
  banner: {
    js: "import{createRequire as makeRequire}from'node:module';const require=makeRequire(import.meta.url);",
  },
} satisfies BuildOptions;
