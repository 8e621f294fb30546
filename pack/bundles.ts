/** The options of the two bundles of the package, with all libraries. */
import { join, resolve } from 'node:path';
import type { BuildOptions, Plugin } from 'esbuild';

const root = resolve(import.meta.dirname, '..');
export const dist = join(root, 'dist');

/** Puts `madeAhead.ts` in the place of the modules that would make at run time what is in the package. */
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
  // Names stay: they are in the stacks of errors.
  minifySyntax: true,
  minifyWhitespace: true,
  legalComments: 'none',
  plugins: [madeAhead],
  logLevel: 'error',
} satisfies BuildOptions;

/** The construct. The app has the CDK. */
export const constructBuild = {
  ...options,
  entryPoints: { index: 'lib/index.ts' },
  outdir: dist,
  external: ['aws-cdk-lib', 'constructs'],
} satisfies BuildOptions;

/** The command. Code that only one of its tasks needs is loaded for that task. lmdb has a program for each kind of machine, so npm installs it. */
export const commandBuild = {
  ...options,
  entryPoints: { 'svc-queue': 'bin/svcQueue.ts' },
  outdir: join(dist, 'cli'),
  external: ['aws-cdk-lib', 'constructs', 'lmdb'],
  splitting: true,
  // CommonJS dependencies call `require` for Node's own modules, which ES modules lack.
  banner: {
    js: "import{createRequire as makeRequire}from'node:module';const require=makeRequire(import.meta.url);",
  },
} satisfies BuildOptions;
