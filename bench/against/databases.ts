/** The databases and brokers of the rivals, each in a separate process with a separate data folder and a free port. */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readdir, realpath, writeFile } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { loopback } from '../../local/http.ts';
import { freePort } from '../../test/support/freePort.ts';
import { BenchError } from '../benchError.ts';
import { notRoot, startServer, temporaryFolder } from './server.ts';
import { together } from './together.ts';

const run = promisify(execFile);

/**
 * Finds a program of a Debian package.
 *
 * @param home the folder in which the package puts its versions; it is searched before the `PATH`
 * @throws BenchError if it is not installed
 */
async function findProgram(name: string, from: string, home = '/usr/bin'): Promise<string> {
  const inHome = (await readdir(home, { recursive: true }).catch(() => []))
    .map((path) => join(home, path))
    .filter((file) => file.endsWith(`/bin/${name}`))
    .toSorted((a, b) => b.localeCompare(a, 'en', { numeric: true }));
  const inPath = (process.env['PATH'] ?? '').split(delimiter).map((folder) => join(folder, name));
  const found = [...inHome, ...inPath].find((file) => existsSync(file));
  if (found === undefined)
    throw new BenchError(`There is no ${name} on this machine; Debian's package ${from} has it.`);
  return found;
}

const versionIn = (text: string, form: RegExp): string => form.exec(text)?.[1] ?? 'of unknown version';

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

export const startRedis = () =>
  together(async (add) => {
    const file = await findProgram('redis-server', 'redis-server');
    const { stdout } = await run(file, ['--version']);
    const folder = add(await temporaryFolder('redis'));
    const port = await freePort();
    const place = ['--port', String(port), '--bind', loopback, '--dir', folder.path];
    const { pid } = add(
      await startServer({
        title: 'Redis',
        command: [file, ...place, ...persistence],
        ready: /ready to accept connections/i,
      }),
    );
    // BullMQ's documents connect to a host and a port ("Connections").
    return { version: versionIn(stdout, /v=([\d.]+)/), port, pid };
  });

/** Starts PostgreSQL with default settings. @throws BenchError if it cannot be installed or started */
export const startPostgres = () =>
  together(async (add) => {
    const initdb = await findProgram('initdb', 'postgresql', '/usr/lib/postgresql');
    const user = notRoot();
    const { path: cwd } = add(await temporaryFolder('postgres', user));
    const data = join(cwd, 'data');
    const makeData = [
      '-D',
      data,
      '-U',
      'bench',
      '--auth=trust',
      '--encoding=UTF8',
      '--locale=C',
      '--no-sync',
    ];
    const options = { cwd, ...user };
    const { stdout } = await run(initdb, ['--version'], options);
    await run(initdb, makeData, options).catch((error: unknown) => {
      throw new BenchError(`PostgreSQL could not make its data folder: ${String(error)}`, { cause: error });
    });
    const port = await freePort();
    const place = ['-D', data, '-p', String(port), '-k', cwd, '-c', `listen_addresses=${loopback}`];
    const { pid } = add(
      await startServer({
        title: 'PostgreSQL',
        command: [join(dirname(initdb), 'postgres'), ...place],
        ...{ cwd, user },
        ready: /database system is ready to accept connections/,
        // A "fast" shutdown, which disconnects clients.
        signal: 'SIGINT',
      }),
    );
    const url = `postgres://bench@${loopback}:${port}/postgres?sslmode=disable`;
    return { version: versionIn(stdout, /([\d.]+)/), url, pid };
  });

export const startRabbitmq = () =>
  together(async (add) => {
    // Debian's script in `/usr/sbin` switches to an account that the package creates. The one in this folder does not.
    const file = await findProgram('rabbitmq-server', 'rabbitmq-server', '/usr/lib/rabbitmq');
    const { path } = add(await temporaryFolder('rabbitmq'));
    const [port, epmdPort, nodePort] = [await freePort(), await freePort(), await freePort()];
    const config = join(path, 'rabbitmq.conf');
    const plugins = join(path, 'enabled_plugins');
    await writeFile(config, `listeners.tcp.1 = ${loopback}:${port}\n`);
    await writeFile(plugins, '[].\n');
    const env = {
      // The folder of the cookie.
      HOME: path,
      ERL_EPMD_ADDRESS: loopback,
      ERL_EPMD_PORT: String(epmdPort),
      ERL_CRASH_DUMP: join(path, 'crash'),
      RABBITMQ_NODENAME: 'bench@localhost',
      RABBITMQ_DIST_PORT: String(nodePort),
      RABBITMQ_MNESIA_BASE: join(path, 'data'),
      RABBITMQ_LOG_BASE: path,
      RABBITMQ_LOGS: '-',
      RABBITMQ_CONFIG_FILE: config,
      RABBITMQ_CONF_ENV_FILE: join(path, 'none'),
      RABBITMQ_ENABLED_PLUGINS_FILE: plugins,
    };
    // Otherwise RabbitMQ starts Erlang's node directory itself, which would outlive it.
    const epmd = add(
      await startServer({
        title: 'The directory of Erlang nodes',
        command: ['epmd', '-d'],
        env,
        ready: /epmd running|entering the main select/i,
      }),
    );
    const broker = add(
      await startServer({
        ...{ title: 'RabbitMQ', command: [file], env, cwd: path },
        ready: /Server startup complete/,
      }),
    );
    // Debian and RabbitMQ's releases have the version in a folder name, beside or around the scripts.
    const beside = await readdir(join(dirname(file), '../lib')).catch(() => []);
    const version = versionIn([await realpath(file), ...beside].join(' '), /rabbitmq_server-([\d.]+)/);
    return { version, url: `amqp://guest:guest@${loopback}:${port}/`, pids: [broker.pid, epmd.pid] };
  });
