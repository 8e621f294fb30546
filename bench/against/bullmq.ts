/**
 * BullMQ with Redis, in a service that accepts and delivers messages over HTTP: with a web framework and `fetch`, as most teams
 * would write it, or with nothing but Node's `http`.
 */
import { join } from 'node:path';
import { startChild } from '../child.ts';
import { bullmqReady } from '../children/protocol.ts';
import type { Start } from './contender.ts';
import { startRedis } from './databases.ts';
import { installPackages } from './install.ts';
import { together } from './together.ts';

const versions = { bullmq: '6.7.0', ioredis: '5.11.1', fastify: '5.12.8' };
const cache = join(import.meta.dirname, '../../.cache/bench/bullmq');

export const startBullmq =
  (by: 'fastify' | 'http'): Start =>
  (destination) =>
    together(async (add) => {
      const redis = add(await startRedis());
      const service = startChild('bullmq', [
        await installPackages('BullMQ', cache, versions),
        String(redis.port),
        by,
      ]);
      add({ close: () => service.end() });
      const { port } = await service.next(bullmqReady);
      return {
        name: `BullMQ ${versions.bullmq} with ${by}, Redis ${redis.version}`,
        doors: [{ publishUrl: `http://127.0.0.1:${port}/publish/${destination}`, headers: {} }],
        bodyOf: (event) => event,
        pids: [service.pid, redis.pid],
      };
    });
