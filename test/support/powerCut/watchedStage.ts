import { startStage, type Stage, type StageOptions } from '../stage.ts';
import { watchStore } from './powerCut.ts';

/** Starts a stage whose writes to its store are recorded, in the data folder. */
export async function startWatched(options: StageOptions & { readonly dataDir: string }): Promise<Stage> {
  const { env } = watchStore(options.dataDir);
  // A slow disk, so that at most moments something is not on it yet.
  return startStage({ ...options, env: { ...options.env, ...env, SVC_SYNC_MS: '20' } });
}
