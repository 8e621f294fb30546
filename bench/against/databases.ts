/** The databases and brokers of the rivals, each in a separate process with a separate data folder and a free port. */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readdir, readFile, realpath, writeFile } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { loopback } from '../../local/http.ts';
import { freePort } from '../../test/support/freePort.ts';
import { BenchError } from '../benchError.ts';
import { debianProgram } from './debian.ts';
import { notRoot, startServer, temporaryFolder } from './server.ts';
import { together } from './together.ts';

const run = promisify(execFile);

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
    const program = { title: 'Redis', name: 'redis-server', from: 'redis-server', home: 'usr/bin' };
    const { file, env } = await debianProgram(program);
    const { stdout } = await run(file, ['--version'], { env: { ...process.env, ...env } });
    const folder = add(await temporaryFolder('redis'));
    const port = await freePort();
    const place = ['--port', String(port), '--bind', loopback, '--dir', folder.path];
    const { pid } = add(
      await startServer({
        title: 'Redis',
        command: [file, ...place, ...persistence],
        env,
        ready: /ready to accept connections/i,
      }),
    );
    // BullMQ's documents connect to a host and a port ("Connections").
    return { version: versionIn(stdout, /v=([\d.]+)/), port, pid };
  });

/** Starts PostgreSQL with default settings. @throws BenchError if it cannot be installed or started */
export const startPostgres = () =>
  together(async (add) => {
    const program = {
      title: 'PostgreSQL',
      name: 'initdb',
      from: 'postgresql',
      home: 'usr/lib/postgresql',
    };
    const { file: initdb, env } = await debianProgram(program);
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
    const options = { cwd, env: { ...process.env, ...env }, ...user };
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
        env,
        cwd,
        user,
        ready: /database system is ready to accept connections/,
        // "fast": connected clients are disconnected.
        signal: 'SIGINT',
      }),
    );
    const url = `postgres://bench@${loopback}:${port}/postgres?sslmode=disable`;
    return { version: versionIn(stdout, /([\d.]+)/), url, pid };
  });

const erlang = 'usr/lib/erlang';
/**
 * Debian's script in `/usr/sbin` would switch to an account that the package creates. The script in this
 * folder does not.
 */
const rabbitmq = {
  title: 'RabbitMQ',
  name: 'rabbitmq-server',
  from: 'rabbitmq-server',
  home: 'usr/lib/rabbitmq',
  /** Debian's Erlang expects a fixed folder. */
  settle: async (draft: string, root: string): Promise<void> => {
    const script = join(draft, erlang, 'bin/erl');
    if (!existsSync(script)) return;
    await writeFile(script, (await readFile(script, 'utf8')).replaceAll(`/${erlang}`, join(root, erlang)));
  },
};

export const startRabbitmq = () =>
  together(async (add) => {
    const { file, env: found, root } = await debianProgram(rabbitmq);
    const erlangBin = join(root, erlang, 'bin');
    const { path } = add(await temporaryFolder('rabbitmq'));
    const [port, epmdPort, nodePort] = [await freePort(), await freePort(), await freePort()];
    const config = join(path, 'rabbitmq.conf');
    const plugins = join(path, 'enabled_plugins');
    await writeFile(config, `listeners.tcp.1 = ${loopback}:${port}\n`);
    await writeFile(plugins, '[].\n');
    const env = {
      ...found,
      PATH: [erlangBin, process.env['PATH']].join(delimiter),
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
    const epmdFile = join(erlangBin, 'epmd');
    const epmd = add(
      await startServer({
        title: 'The directory of Erlang nodes',
        command: [existsSync(epmdFile) ? epmdFile : 'epmd', '-d'],
        env,
        ready: /epmd running|entering the main select/i,
      }),
    );
    const broker = add(
      await startServer({
        title: 'RabbitMQ',
        command: [file],
        env,
        cwd: path,
        ready: /Server startup complete/,
      }),
    );
    // Debian and RabbitMQ's releases have the version in a folder name, beside or around the scripts.
    const beside = await readdir(join(dirname(file), '../lib')).catch(() => []);
    const version = versionIn([await realpath(file), ...beside].join(' '), /rabbitmq_server-([\d.]+)/);
    return { version, url: `amqp://guest:guest@${loopback}:${port}/`, pids: [broker.pid, epmd.pid] };
  });
