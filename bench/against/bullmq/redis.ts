/** Redis in a process of its own, with its data in a folder of its own. */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { underWatch } from '../../../local/dynamodb/underWatch.ts';
import { freePort, loopback } from '../../../local/http.ts';
import { BenchError } from '../../benchError.ts';

export interface Redis {
  readonly version: string;
  /** On the loopback address. BullMQ's documents connect to a host and a port ("Connections"). */
  readonly port: number;
  readonly pid: number;
  close(): Promise<void>;
}

const program = 'redis-server';

/**
 * As BullMQ's documents recommend ("Going to production"): what was accepted is written before it is answered, so a `kill -9`
 * loses nothing, and is on the disk within a second. A local stage promises the same of a `kill -9`.
 */
const persistence = [
  ['--save', ''],
  ['--appendonly', 'yes'],
  ['--appendfsync', 'everysec'],
  ['--maxmemory-policy', 'noeviction'],
].flat();

/** @throws BenchError when there is no Redis on this machine */
async function versionOf(): Promise<string> {
  try {
    const { stdout } = await promisify(execFile)(program, ['--version']);
    return /v=([\d.]+)/.exec(stdout)?.[1] ?? 'of unknown version';
  } catch (error) {
    throw new BenchError(
      `BullMQ keeps its jobs in Redis, and there is no ${program} on the PATH of this machine; install Redis first (Debian: redis-server, Homebrew: redis).`,
      { cause: error },
    );
  }
}

/** @throws BenchError when there is no Redis on this machine, or it does not start */
export async function startRedis(): Promise<Redis> {
  const version = await versionOf();
  const folder = await mkdtemp(join(tmpdir(), 'svc-redis-'));
  const remove = (): Promise<void> => rm(folder, { recursive: true, force: true });
  const port = await freePort();
  // It ends with this process, however that dies.
  const { file, args } = underWatch([
    program,
    ...['--port', String(port), '--bind', loopback, '--dir', folder],
    ...persistence,
  ]);
  const child = spawn(file, args, { stdio: 'pipe' });
  let output = '';
  const exited = once(child, 'exit').then(() => 'exited' as const);
  const ready = new Promise<'ready'>((resolve) => {
    const read = (text: string): void => {
      output += text;
      if (/ready to accept connections/i.test(output)) resolve('ready');
    };
    child.stdout.setEncoding('utf8').on('data', read);
    child.stderr.setEncoding('utf8').on('data', read);
  });
  const { pid } = child;
  if ((await Promise.race([ready, exited])) === 'exited' || pid === undefined) {
    await remove();
    throw new BenchError(`Redis did not start:\n${output}`);
  }
  return {
    version,
    port,
    pid,
    close: async () => {
      child.kill();
      await exited;
      await remove();
    },
  };
}
