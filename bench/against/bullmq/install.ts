/**
 * Installs BullMQ into `.cache`, with the web framework of the service that it is used in. They are no dependencies of the project:
 * nobody who does not ask for this comparison should load their 24 MB.
 */
import { join } from 'node:path';
import { installPackages } from '../npm.ts';

const versions = { bullmq: '6.7.0', ioredis: '5.11.1', fastify: '5.12.8' };
export const bullmqVersion = versions.bullmq;

const cache = join(import.meta.dirname, '../../../.cache/bench/bullmq');

/**
 * @returns the folder whose modules it is among
 * @throws BenchError when npm cannot install it
 */
export const installBullmq = (): Promise<string> => installPackages('BullMQ', cache, versions);
