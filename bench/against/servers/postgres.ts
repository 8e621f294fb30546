/** PostgreSQL in a process of its own, with its data in a folder of its own, and with its own defaults. */
import { execFile } from 'node:child_process';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { freePort, loopback } from '../../../local/http.ts';
import { BenchError } from '../../benchError.ts';
import { debianProgram } from '../install/debian.ts';
import { notRoot, startServer, temporaryFolder } from './server.ts';
import { together, type Closable } from './together.ts';

export interface Postgres extends Closable {
  readonly version: string;
  readonly url: string;
  readonly pid: number;
}

const program = {
  title: 'PostgreSQL',
  name: 'initdb',
  packages: ['postgresql'],
  folders: ['usr/lib/postgresql/*/bin'],
};
const user = 'bench';

/** @throws BenchError when PostgreSQL cannot be had, or does not start */
export const startPostgres = (): Promise<Postgres> =>
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
        // "Fast": clients that are still connected are cut off.
        signal: 'SIGINT',
      }),
    );
    return {
      version: /[\d.]+/.exec(stdout)?.[0] ?? 'of unknown version',
      url: `postgres://${user}@${loopback}:${port}/postgres?sslmode=disable`,
      pid,
    };
  });
