import { join } from 'node:path';
import { build } from 'esbuild';
import { commandBuild } from '../pack/bundles.ts';

const bundled = join(import.meta.dirname, '../.cache/bench/stage');

/**
 * Bundles the local stage, as the image has it. `npm start` would use more CPU to compile the source.
 *
 * @returns the arguments with which Node.js starts it
 */
export async function bundleStage(): Promise<readonly string[]> {
  await build({ ...commandBuild, outdir: bundled });
  return ['--max-semi-space-size=64', join(bundled, 'svc-queue.js'), 'start'];
}
