/** RabbitMQ in a separate process with a separate data folder. */
import { existsSync } from 'node:fs';
import { readdir, readFile, realpath, writeFile } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { loopback } from '../../../local/http.ts';
import { freePort } from '../../../test/support/freePort.ts';
import { debianProgram } from '../install/debian.ts';
import { startServer, temporaryFolder } from './server.ts';
import { together } from './together.ts';

const erlang = 'usr/lib/erlang';
/** Debian's script in `/usr/sbin` switches to an account that the package creates. This script does not. */
const program = {
  title: 'RabbitMQ',
  name: 'rabbitmq-server',
  packages: ['rabbitmq-server'],
  folders: ['usr/lib/rabbitmq/bin'],
  /** Debian's Erlang expects a fixed folder. */
  settle: async (draft: string, root: string): Promise<void> => {
    const script = join(draft, erlang, 'bin/erl');
    if (!existsSync(script)) return;
    await writeFile(script, (await readFile(script, 'utf8')).replaceAll(`/${erlang}`, join(root, erlang)));
  },
};

/** @throws BenchError if RabbitMQ cannot be installed or started */
export const startRabbitmq = () =>
  together(async (add) => {
    const { file, env: found, root } = await debianProgram(program);
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
    return {
      version: await versionBeside(file),
      url: `amqp://guest:guest@${loopback}:${port}/`,
      pids: [broker.pid, epmd.pid],
    };
  });

/** Debian and RabbitMQ's releases have the version in a folder name, beside or around the scripts. */
async function versionBeside(script: string): Promise<string> {
  const real = await realpath(script);
  const names = [real, ...(await readdir(join(dirname(script), '../lib')).catch(() => []))];
  return /rabbitmq_server-([\d.]+)/.exec(names.join(' '))?.[1] ?? 'of unknown version';
}
