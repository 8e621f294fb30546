/** `npm run conformance`: runs the published clients in their versions, and writes `docs/conformance.md`. */
import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { argumentsOf, command, parse, wholeNumber } from '../../bin/commandLine.ts';
import { root } from '../support/bundledStage.ts';
import { startCommand, startStage } from '../support/stage.ts';
import { clients } from './clients.ts';
import { follow, missingProgram, quickStarts } from './quickStarts.ts';
import { resultsOf, type Target } from './run.ts';
import { pageOf, type Tested } from './table.ts';

const about = `Runs each operation of the published clients in their oldest supported and newest version, writes
docs/conformance.md, and follows docs/quick-starts. It exits with 1 when something of that fails, or when --check finds another page.`;

const options = argumentsOf((args) =>
  parse(
    command('conformance', about)
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
      .option('--only <name>', 'only this client or quick start; no page is written')
      .option('--check', 'write nothing; the committed page has to be this one'),
    args,
  ).opts(),
);

const page = join(root, 'docs/conformance.md');

interface Service {
  readonly target: Target;
  /** The variables of the quick starts; their apps run beside a local stage only. */
  readonly env: Readonly<Record<string, string>> | undefined;
  readonly end: () => Promise<void>;
}

async function startService(): Promise<Service> {
  const { url, token, receiver, receiverPort: port } = options;
  if (url !== undefined) {
    const reached = receiver === undefined ? undefined : { url: receiver, port };
    return {
      target: { url, token: token ?? '', receiver: reached },
      env: undefined,
      end: () => Promise.resolve(),
    };
  }
  const stage = await startStage({ command: startCommand });
  const target = { url: stage.url, token: stage.token, receiver: undefined };
  const { currentSigningKey, nextSigningKey } = stage;
  const names = Object.entries({
    URL: stage.url,
    TOKEN: stage.token,
    CURRENT_SIGNING_KEY: currentSigningKey,
    NEXT_SIGNING_KEY: nextSigningKey,
  });
  const env = Object.fromEntries(
    ['QSTASH', 'SVC'].flatMap((brand) => names.map(([name, value]) => [`${brand}_${name}`, value])),
  );
  return { target, env, end: () => stage.remove() };
}

async function testAll(target: Target): Promise<readonly Tested[]> {
  const all: Tested[] = [];
  for (const client of clients.filter(({ name }) => name === (options.only ?? name))) {
    const results = [];
    for (const version of client.versions) {
      const of = await resultsOf(client, version, target);
      results.push(of);
      const failures = of.filter(({ outcome }) => outcome === 'failed');
      process.stdout.write(`${client.name}@${version}: ${of.length} operations, ${failures.length} failed\n`);
      for (const { operation, reason } of failures) {
        process.exitCode = 1;
        process.stdout.write(`  ${operation}: ${reason ?? ''}\n`);
      }
    }
    all.push({ client, results });
  }
  return all;
}

async function followAll(env: Readonly<Record<string, string>>): Promise<void> {
  for (const name of quickStarts.filter((one) => one === (options.only ?? one))) {
    const missing = missingProgram(name);
    // Where all has to pass, a program that is missing is a mistake.
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

/** Lays out a page as the other documents are. */
async function formatted(text: string): Promise<string> {
  const running = promisify(execFile)('npx', ['oxfmt', '--stdin-filepath', page], { cwd: root });
  running.child.stdin?.end(text);
  return (await running).stdout;
}

const { target, env, end } = await startService();
try {
  const all = await testAll(target);
  if (env !== undefined) await followAll(env);
  if (options.only === undefined) {
    const text = await formatted(pageOf(all));
    if (options.check !== true) writeFileSync(page, text);
    else if (readFileSync(page, 'utf8') !== text) {
      process.exitCode = 1;
      process.stdout.write(
        'docs/conformance.md is another: run npm run conformance, and look at the difference.\n',
      );
    }
  }
} finally {
  await end();
}
