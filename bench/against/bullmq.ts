/** BullMQ with Redis, in a service that accepts and delivers messages over HTTP. */
import { once } from 'node:events';
import { join } from 'node:path';
import { compileChild, spawnChild } from '../child.ts';
import { bullmqReady } from '../children/protocol.ts';
import { installPackages } from './install/npm.ts';
import type { Start } from './rival.ts';
import { startRedis } from './servers/redis.ts';
import { together } from './servers/together.ts';

/** Not dependencies of the project, because most people don't need these 24 MB. */
const versions = { bullmq: '6.7.0', ioredis: '5.11.1', fastify: '5.12.8' };
const cache = join(import.meta.dirname, '../../.cache/bench/bullmq');

/** @throws BenchError if Redis or BullMQ cannot be installed */
export const startBullmq: Start = (destination) =>
  together(async (add) => {
    const redis = add(await startRedis());
    const service = add(await startService(await installPackages('BullMQ', cache, versions), redis.port));
    return {
      name: `BullMQ ${versions.bullmq}, Redis ${redis.version}`,
      publishUrl: `http://127.0.0.1:${service.port}/publish/${destination}`,
      headers: {},
      bodyOf: (event) => event,
      pids: [service.pid, redis.pid],
    };
  });

async function startService(packages: string, redisPort: number) {
  const child = spawnChild(compileChild('bullmq'), [packages, String(redisPort)]);
  child.stdout.resume();
  const exited = once(child, 'exit').then(() => undefined);
  const ready = await Promise.race([once(child, 'message'), exited]);
  if (ready === undefined || child.pid === undefined) {
    throw new Error(`The process with BullMQ ended with ${child.exitCode}.`);
  }
  return {
    port: bullmqReady.parse(ready[0]).port,
    pid: child.pid,
    close: async () => {
      if (child.connected) child.disconnect();
      await exited;
    },
  };
}
