/** The two services that are compared, each in processes of its own, with persistence: both take and deliver messages over HTTP. */
import { once } from 'node:events';
import { join } from 'node:path';
import { build } from 'esbuild';
import { commandBuild } from '../../../pack/bundles.ts';
import { startStage } from '../../../test/support/stage.ts';
import { compileChild, spawnChild } from '../../child.ts';
import { bullmqReady } from '../../children/protocol.ts';
import { makeStageAccount } from '../../stageAccount.ts';
import { bullmqVersion, installBullmq } from './install.ts';
import { startRedis } from './redis.ts';

export interface Rival {
  readonly name: string;
  /** A request to this URL with a destination at its end publishes a message. */
  readonly publishUrl: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The ids of the processes of this side. The processes that they have started count for it, too. */
  readonly pids: readonly number[];
  close(): Promise<void>;
}

const bundled = join(import.meta.dirname, '../../../.cache/bench/stage');

/** The local stage, as the image runs it: in bundles. `npm start`, which translates its source, takes more CPU. */
export async function startStageRival(): Promise<Rival> {
  await build({ ...commandBuild, outdir: bundled });
  const command = ['--max-semi-space-size=64', join(bundled, 'svc-queue.js'), 'start'];
  const stage = await startStage({ command });
  try {
    const token = await makeStageAccount(stage);
    return {
      name: 'stage',
      publishUrl: `${stage.url}/v2/publish/`,
      headers: { authorization: `Bearer ${token}` },
      pids: [stage.pid],
      close: () => stage.remove(),
    };
  } catch (error) {
    await stage.remove();
    throw error;
  }
}

/** @throws BenchError when there is no Redis on this machine, or BullMQ cannot be installed */
export async function startBullmqRival(): Promise<Rival> {
  const redis = await startRedis();
  try {
    const child = spawnChild(compileChild('bullmq'), [await installBullmq(), String(redis.port)]);
    child.stdout.resume();
    const exited = once(child, 'exit').then(() => undefined);
    const ready = await Promise.race([once(child, 'message'), exited]);
    if (ready === undefined || child.pid === undefined) {
      throw new Error(`The process with BullMQ ended with ${child.exitCode}.`);
    }
    const { port } = bullmqReady.parse(ready[0]);
    return {
      name: `BullMQ ${bullmqVersion}, Redis ${redis.version}`,
      publishUrl: `http://127.0.0.1:${port}/publish/`,
      headers: {},
      pids: [child.pid, redis.pid],
      close: async () => {
        if (child.connected) child.disconnect();
        await exited;
        await redis.close();
      },
    };
  } catch (error) {
    await redis.close();
    throw error;
  }
}
