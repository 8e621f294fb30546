import { startStage as start } from '../../test/support/stage.ts';
import { bundleStage } from '../bundledStage.ts';
import { makeStageAccount } from '../stageClient.ts';
import type { Start } from './rival.ts';
import { together } from './servers/together.ts';

export const startStage: Start = (destination) =>
  together(async (add) => {
    const stage = await start({ command: await bundleStage() });
    add({ close: () => stage.remove() });
    return {
      name: 'stage',
      publishUrl: `${stage.url}/v2/publish/${destination}`,
      headers: { authorization: `Bearer ${await makeStageAccount(stage)}` },
      bodyOf: (event) => event,
      pids: [stage.pid],
    };
  });
