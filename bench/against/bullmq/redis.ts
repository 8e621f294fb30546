/** Redis in a process of its own, with its data in a folder of its own. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BenchError } from '../../benchError.ts';

export interface Redis {
  readonly version: string;
  /** A socket in the file system: it needs no port that might be taken. */
  readonly socket: string;
  readonly pid: number;
  close(): Promise<void>;
}

const program = 'redis-server';

/** As BullMQ's documents recommend ("Going to production"): what was accepted is on the disk within a second. */
const persistence = [
  ['--save', ''],
  ['--appendonly', 'yes'],
  ['--appendfsync', 'everysec'],
  ['--maxmemory-policy', 'noeviction'],
].flat();

/** @throws BenchError when there is no Redis on this machine, or it does not start */
export async function startRedis(): Promise<Redis> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-redis-'));
  const remove = (): Promise<void> => rm(folder, { recursive: true, force: true });
  const socket = join(folder, 'redis.sock');
  const child = spawn(program, ['--port', '0', '--unixsocket', socket, '--dir', folder, ...persistence], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  const failed = Promise.race([
    once(child, 'error').then(([error]: unknown[]) => String(error)),
    once(child, 'exit').then(() => output),
  ]);
  const ready = new Promise<undefined>((resolve) => {
    const read = (text: string): void => {
      output += text;
      if (output.includes('Ready to accept connections')) resolve(undefined);
    };
    child.stdout.setEncoding('utf8').on('data', read);
    child.stderr.setEncoding('utf8').on('data', read);
  });
  const failure = await Promise.race([ready, failed]);
  const { pid } = child;
  if (failure !== undefined || pid === undefined) {
    await remove();
    throw new BenchError(
      failure?.includes('ENOENT') === true
        ? `BullMQ keeps its jobs in Redis, and there is no ${program} on the PATH of this machine; install Redis first (Debian: redis-server, Homebrew: redis).`
        : `Redis did not start: ${failure ?? ''}`,
    );
  }
  return {
    version: /version=([\d.]+)/i.exec(output)?.[1] ?? 'of unknown version',
    socket,
    pid,
    close: async () => {
      child.kill();
      await failed;
      await remove();
    },
  };
}
