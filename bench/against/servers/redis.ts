/** Redis in a separate process with a separate data folder. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { loopback } from '../../../local/http.ts';
import { freePort } from '../../../test/support/freePort.ts';
import { debianProgram } from '../install/debian.ts';
import { startServer, temporaryFolder } from './server.ts';
import { together } from './together.ts';

export const program = {
  title: 'Redis',
  name: 'redis-server',
  packages: ['redis-server'],
  folders: ['usr/bin'],
};

/**
 * As BullMQ's documents recommend ("Going to production"): accepted messages survive a `kill -9`, as on the local stage, and
 * are on the disk within a second.
 */
const persistence = [
  ['--save', ''],
  ['--appendonly', 'yes'],
  ['--appendfsync', 'everysec'],
  ['--maxmemory-policy', 'noeviction'],
].flat();

/** @throws BenchError if Redis cannot be installed or started */
export const startRedis = () =>
  together(async (add) => {
    const { file, env } = await debianProgram(program);
    const { stdout } = await promisify(execFile)(file, ['--version'], { env: { ...process.env, ...env } });
    const folder = add(await temporaryFolder('redis'));
    const port = await freePort();
    const { pid } = add(
      await startServer({
        title: 'Redis',
        command: [
          file,
          ...['--port', String(port), '--bind', loopback, '--dir', folder.path],
          ...persistence,
        ],
        env,
        ready: /ready to accept connections/i,
      }),
    );
    // BullMQ's documents connect to a host and a port ("Connections").
    return { version: /v=([\d.]+)/.exec(stdout)?.[1] ?? 'of unknown version', port, pid };
  });
