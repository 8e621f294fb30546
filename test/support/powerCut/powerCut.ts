/** Losses of power for a stage: what was not flushed is gone, in whole or in part. */
import { readFileSync, statSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { inject } from 'vitest';
import * as z from 'zod/mini';
import { bundling, root } from '../bundledStage.ts';
import { journalNames } from './journals.ts';
import { startStage, type Stage, type StageOptions } from '../stage.ts';

const noted = z.tuple([z.string(), z.number()]);

/** A stage whose flushes are noted, in the folder of its data. */
export async function startWatched(options: StageOptions & { readonly dataDir: string }): Promise<Stage> {
  const preloaded = join(options.dataDir, 'flushLog.mjs');
  await build({
    ...bundling,
    splitting: false,
    absWorkingDir: root,
    entryPoints: ['test/support/powerCut/flushLog.ts'],
    outfile: preloaded,
  });
  return startStage({
    ...options,
    env: { ...options.env, SVC_FLUSH_LOG: join(options.dataDir, 'flushes') },
    command: ['--import', preloaded, inject('bundledStage')],
  });
}

/**
 * Does to the journals of a killed stage what a loss of power does.
 *
 * @param kept the part of what was not flushed that reached the disk all the same, from 0 to 1
 * @returns the bytes that were lost
 */
export function cutPower(dataDir: string, kept: number): { readonly lost: number } {
  const flushed = new Map<string, number>();
  // The kill may have cut the last line off.
  for (const line of readFileSync(join(dataDir, 'flushes'), 'utf8').split('\n').slice(0, -1)) {
    const [path, bytes] = noted.parse(JSON.parse(line));
    flushed.set(path, bytes);
  }
  let lost = 0;
  for (const path of journalNames.map((name) => join(dataDir, name))) {
    const { size } = statSync(path);
    const safe = Math.min(size, flushed.get(path) ?? 0);
    const length = safe + Math.floor((size - safe) * kept);
    truncateSync(path, length);
    lost += size - length;
  }
  return { lost };
}
