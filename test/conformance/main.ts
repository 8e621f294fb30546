/** `npm run conformance`: runs all versions of the published clients, and writes `docs/conformance.md`. */
import { Argument } from '@commander-js/extra-typings';
import { execFile, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { argumentsOf, command, parse, wholeNumber } from '../../cli/commandLine.ts';
import { root } from '../support/bundledStage.ts';
import { deployed, onThisMachine, type Service } from './accounts.ts';
import { apps } from './apps.ts';
import { clients, type Client, type Registry, type Version } from './clients.ts';
import { follow, missingProgram, quickStarts } from './quickStarts.ts';
import type { Result } from './result.ts';
import { resultsOf } from './run.ts';
import { sideBySide } from './sideBySide.ts';
import { pageOf, sectionsOf, type Tested } from './table.ts';

const about = `Runs each operation of the published clients in their versions, and the calls of applications, writes docs/conformance.md,
and follows docs/quick-starts. It exits with 1 when something of that fails, or when --check finds another page. --check leaves
out what takes a minute to compile.`;

const options = argumentsOf((args) =>
  parse(
    command('conformance', about)
      .addArgument(
        new Argument('[what]', 'only the calls of applications; no page is written').choices(['apps']),
      )
      .option('--url <url>', 'the service; a local stage of its own when absent')
      .option(
        '--token <token>',
        'the account at --url; its messages, queues and schedules of other names stay',
      )
      .option(
        '--receiver <url>',
        'where the service reaches this machine, such as a tunnel; needed with --url',
      )
      .option('--receiver-port <port>', 'the port behind --receiver', wholeNumber(1, 65_535), 3399)
      .option('--only <name>', 'only this client, application or quick start; no page is written')
      .option('--check', 'write nothing; the committed page has to be this one'),
    args,
  ),
);
const { url, token, receiver, receiverPort: port, only, check } = options.opts();
const [what] = options.processedArgs;

const page = join(root, 'docs/conformance.md');

const startService = (): Promise<Service> =>
  url === undefined
    ? onThisMachine()
    : Promise.resolve(
        deployed(url, token ?? '', receiver === undefined ? undefined : { url: receiver, port }),
      );

const isChosen = (name: string): boolean => only === undefined || only === name;

/** The clients' compilers, or the clients themselves. */
const programs: Partial<Record<Registry, string>> = { Go: 'go', 'crates.io': 'cargo', program: 'curl' };

/** Whether a client can be compiled or run here. In CI, it is an error if it can't. */
function isPossible({ name, registry }: Client): boolean {
  const program = programs[registry];
  const isThere = program === undefined || spawnSync(program, ['--help']).error === undefined;
  if (isThere || process.env['CI'] !== undefined) return true;
  process.stdout.write(`${name}: skipped, because there is no ${program ?? ''}\n`);
  return false;
}

/** The clients to run, in the order of the page. */
const chosen: readonly Client[] = [...(what === 'apps' ? [] : clients), ...apps]
  .filter(({ name, isSlow = false }) => isChosen(name) && !(isSlow && check === true))
  .filter(isPossible);

function tell(client: Client, version: Version, results: readonly Result[]): void {
  const failures = results.filter(({ outcome }) => outcome === 'failed');
  process.stdout.write(
    `${client.name} ${version.name}: ${results.length} operations, ${failures.length} failed\n`,
  );
  for (const { operation, reason } of failures) {
    process.exitCode = 1;
    process.stdout.write(`  ${operation}: ${reason ?? ''}\n`);
  }
}

/** Runs everything chosen. A client that cannot be installed or started has failed. */
async function testAll(service: Service): Promise<readonly Tested[]> {
  const runs = chosen.flatMap((client) => client.versions.map((version) => ({ client, version })));
  const done = await sideBySide(runs, service.runsAtOnce, async ({ client, version }) => {
    const results = await resultsOf(client, version, await service.target()).catch(
      (error: unknown): readonly Result[] => [
        {
          operation: 'all',
          outcome: 'failed',
          reason: error instanceof Error ? error.message : String(error),
        },
      ],
    );
    tell(client, version, results);
    return { client, results };
  });
  return chosen.map((client) => ({
    client,
    results: done.filter((one) => one.client === client).map(({ results }) => results),
  }));
}

async function followAll(env: Readonly<Record<string, string>>): Promise<void> {
  for (const name of quickStarts.filter(isChosen)) {
    const missing = missingProgram(name);
    // In CI, a missing program is an error.
    if (missing !== undefined && process.env['CI'] === undefined) {
      process.stdout.write(`quick start ${name}: skipped, because there is no ${missing}\n`);
      continue;
    }
    const failure = await follow(name, env).then(
      () => undefined,
      (error: unknown) => String(error),
    );
    process.stdout.write(`quick start ${name}: ${failure ?? 'passed'}\n`);
    if (failure !== undefined) process.exitCode = 1;
  }
}

/** Formats a page like the other documents. */
async function formatted(text: string): Promise<string> {
  const running = promisify(execFile)('npx', ['oxfmt', '--stdin-filepath', page], { cwd: root });
  running.child.stdin?.end(text);
  return (await running).stdout;
}

/** Writes or compares the page. A client that was not run keeps its section. */
async function writePage(all: readonly Tested[]): Promise<void> {
  const before = readFileSync(page, 'utf8');
  const text = await formatted(pageOf([...clients, ...apps], all, sectionsOf(before)));
  if (check !== true) writeFileSync(page, text);
  else if (before !== text) {
    process.exitCode = 1;
    process.stdout.write(
      'docs/conformance.md is another: run npm run conformance, and look at the difference.\n',
    );
  }
}

const started = Date.now();
const service = await startService();
try {
  const all = await testAll(service);
  if (service.env !== undefined && what === undefined) await followAll(service.env);
  if (only === undefined && what === undefined) await writePage(all);
} finally {
  await service.end();
}
process.stdout.write(`It took ${Math.round((Date.now() - started) / 1000)} s.\n`);
