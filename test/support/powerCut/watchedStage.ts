import { startStage, type Stage, type StageOptions } from '../stage.ts';
import { watchStore } from './powerCut.ts';

/** A stage the writes of whose store are noted, in the folder of its data. */
export async function startWatched(options: StageOptions & { readonly dataDir: string }): Promise<Stage> {
  const { env } = watchStore(options.dataDir);
  // A slow disk: at most moments something is not on it yet.
  return startStage({ ...options, env: { ...options.env, ...env, SVC_SYNC_MS: '20' } });
}
