/** The local stage in bundles, as the image runs it. `npm start` would use more CPU to compile the source. */
import { join } from 'node:path';
import { build } from 'esbuild';
import { commandBuild } from '../../../pack/bundles.ts';
import { startStage as start } from '../../../test/support/stage.ts';
import { makeStageAccount } from '../../stageAccount.ts';
import type { Start } from '../rival.ts';
import { together } from '../servers/together.ts';

const bundled = join(import.meta.dirname, '../../../.cache/bench/stage');

export const startStage: Start = (destination) =>
  together(async (add) => {
    await build({ ...commandBuild, outdir: bundled });
    const command = ['--max-semi-space-size=64', join(bundled, 'svc-queue.js'), 'start'];
    const stage = await start({ command });
    add({ close: () => stage.remove() });
    return {
      name: 'stage',
      publishUrl: `${stage.url}/v2/publish/${destination}`,
      headers: { authorization: `Bearer ${await makeStageAccount(stage)}` },
      bodyOf: (event) => event,
      pids: [stage.pid],
    };
  });
