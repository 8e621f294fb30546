/** Outpost with PostgreSQL, RabbitMQ and Redis, as in its documents. */
import { execFile } from 'node:child_process';
import { delimiter, join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { promisify } from 'node:util';
import { loopback } from '../../local/http.ts';
import { freePort } from '../../test/support/freePort.ts';
import { BenchError } from '../benchError.ts';
import type { Start } from './contender.ts';
import { startPostgres, startRabbitmq, startRedis } from './databases.ts';
import { makeOnce, runInstaller } from './install.ts';
import { startServer, temporaryFolder, type Server } from './server.ts';
import { together } from './together.ts';

const outpostVersion = '1.2.0';
const programs = ['outpost-server', 'outpost'] as const;
const modules = programs.map((name) => `github.com/hookdeck/outpost/cmd/${name}@v${outpostVersion}`);
const cache = join(import.meta.dirname, '../../.cache/bench/outpost');

/**
 * Builds Outpost from its Go module into `.cache`.
 *
 * @returns the folder of its programs
 * @throws BenchError if Go is missing or the module is not available
 */
function installOutpost(): Promise<string> {
  return makeOnce(join(cache, outpostVersion), async (draft) => {
    console.log('Installing Outpost ...');
    await runInstaller({
      program: 'go',
      args: ['install', ...modules],
      cwd: draft,
      env: { GOBIN: draft, PATH: [process.env['PATH'], '/usr/local/go/bin'].join(delimiter) },
      what: 'Outpost',
    });
  });
}

const run = promisify(execFile);

const apiKey = 'bench';
const tenant = 'bench';
const topic = 'order.paid';
/** As many as other contenders have in flight. Outpost's default is one. */
const deliveriesAtOnce = '32';
/** Milliseconds for the migrations. */
const startLimitMs = 60_000;

export const startOutpost: Start = (destination) =>
  together(async (add) => {
    // Started first, because it is the most likely to fail.
    const programsIn = await installOutpost();
    const redis = add(await startRedis());
    const postgres = add(await startPostgres());
    const rabbitmq = add(await startRabbitmq());
    // Outpost also reads settings from files in its folder, so it gets an empty one.
    const folder = add(await temporaryFolder('outpost'));
    const port = await freePort();
    const env = {
      API_PORT: String(port),
      API_KEY: apiKey,
      API_JWT_SECRET: 'bench',
      AES_ENCRYPTION_SECRET: 'bench'.padEnd(32, '.'),
      TOPICS: topic,
      REDIS_HOST: loopback,
      REDIS_PORT: String(redis.port),
      POSTGRES_URL: postgres.url,
      RABBITMQ_SERVER_URL: rabbitmq.url,
      DELIVERY_MAX_CONCURRENCY: deliveriesAtOnce,
      LOG_MAX_CONCURRENCY: deliveriesAtOnce,
      // Otherwise the log would be written ten seconds later, when CPU time is no longer measured.
      LOG_BATCH_THRESHOLD_SECONDS: '1',
      LOG_LEVEL: 'warn',
      DISABLE_TELEMETRY: 'true',
    };
    await run(join(programsIn, 'outpost'), ['migrate', 'apply', '--yes'], {
      cwd: folder.path,
      env: { ...process.env, ...env },
    });
    const server = add(
      await startServer({
        title: 'Outpost',
        command: [join(programsIn, 'outpost-server')],
        cwd: folder.path,
        env,
      }),
    );
    const api = `http://${loopback}:${port}/api/v1`;
    await makeDestination(api, destination, server);
    return {
      name: `Outpost ${outpostVersion}, PostgreSQL ${postgres.version}, RabbitMQ ${rabbitmq.version}, Redis ${redis.version}`,
      doors: [{ publishUrl: `${api}/publish`, headers: authorization }],
      bodyOf: (event) => `{"tenant_id":"${tenant}","topic":"${topic}","data":${event}}`,
      pids: [server.pid, postgres.pid, ...rabbitmq.pids, redis.pid],
    };
  });

const authorization = { authorization: `Bearer ${apiKey}` };

async function makeDestination(api: string, url: string, { ended }: Server): Promise<void> {
  const until = Date.now() + startLimitMs;
  const tenantUrl = `${api}/tenants/${tenant}`;
  for (;;) {
    const answer = await fetch(tenantUrl, { method: 'PUT', headers: authorization }).catch(() => undefined);
    if (answer?.ok === true) break;
    if (Date.now() > until) throw new BenchError(`Outpost was not ready within ${startLimitMs} ms.`);
    await Promise.race([setTimeout(100), ended]);
  }
  const made = await fetch(`${tenantUrl}/destinations`, {
    method: 'POST',
    headers: { ...authorization, 'content-type': 'application/json' },
    body: JSON.stringify({ type: 'webhook', topics: ['*'], config: { url } }),
  });
  if (!made.ok) throw new BenchError(`Outpost refused the destination: ${await made.text()}`);
}
