/** PostgreSQL in a separate process with a separate data folder and default settings. */
import { execFile } from 'node:child_process';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { loopback } from '../../../local/http.ts';
import { freePort } from '../../../test/support/freePort.ts';
import { BenchError } from '../../benchError.ts';
import { debianProgram } from '../install/debian.ts';
import { notRoot, startServer, temporaryFolder } from './server.ts';
import { together } from './together.ts';

const program = {
  title: 'PostgreSQL',
  name: 'initdb',
  packages: ['postgresql'],
  folders: ['usr/lib/postgresql/*/bin'],
};
const user = 'bench';

/** @throws BenchError if PostgreSQL cannot be installed or started */
export const startPostgres = () =>
  together(async (add) => {
    const { file: initdb, env } = await debianProgram(program);
    const account = notRoot();
    const folder = add(await temporaryFolder('postgres', account));
    const data = join(folder.path, 'data');
    const makeData = ['-D', data, '-U', user, '--auth=trust', '--encoding=UTF8', '--locale=C', '--no-sync'];
    const options = { cwd: folder.path, env: { ...process.env, ...env }, ...account };
    const { stdout } = await promisify(execFile)(initdb, ['--version'], options);
    await promisify(execFile)(initdb, makeData, options).catch((error: unknown) => {
      throw new BenchError(`PostgreSQL could not make its data folder: ${String(error)}`, { cause: error });
    });
    const port = await freePort();
    const { pid } = add(
      await startServer({
        title: 'PostgreSQL',
        command: [
          join(dirname(initdb), 'postgres'),
          ...['-D', data, '-p', String(port), '-k', folder.path, '-c', `listen_addresses=${loopback}`],
        ],
        env,
        cwd: folder.path,
        user: account,
        ready: /database system is ready to accept connections/,
        // A "fast" shutdown, which disconnects clients.
        signal: 'SIGINT',
      }),
    );
    return {
      version: /[\d.]+/.exec(stdout)?.[0] ?? 'of unknown version',
      url: `postgres://${user}@${loopback}:${port}/postgres?sslmode=disable`,
      pid,
    };
  });
