import { spawnSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { makeAccount, publishAs } from '../support/accounts.ts';
import { blocksOf, documents, programsIn, type Block } from '../support/docs/blocks.ts';
import { faultsIn, installAwsCli, type Command } from '../support/docs/commands.ts';
import {
  installPackages,
  installPythonPackages,
  runGo,
  runProgram,
  runPython,
  typeErrors,
  writePrograms,
  type Program,
} from '../support/docs/programs.ts';
import { isServer, runBlocks } from '../support/docs/shell.ts';
import { eventually } from '../support/eventually.ts';
import { limitForInstallsMs } from '../support/limits.ts';
import { findPython } from '../support/python.ts';
import { startReceiver, type Receiver } from '../support/receiver.ts';
import { service } from '../support/service.ts';

/**
 * Programs in documents are compiled and run, shell blocks are run, and JSON is parsed. New examples are found automatically.
 */

const blocks = documents.flatMap(blocksOf);
const ofLanguages = (...languages: readonly string[]) =>
  blocks.filter(({ language }) => languages.includes(language));

let packages = '';
let awsCli: string | undefined;
const python = findPython();
let pythonPrograms: string | undefined;
let receiver: Receiver;
beforeAll(async () => {
  receiver = await startReceiver();
  packages = await installPackages();
  awsCli = await installAwsCli();
  pythonPrograms = python && (await installPythonPackages(python));
}, limitForInstallsMs);
afterAll(() => receiver.close());

async function readersEnv() {
  const account = await makeAccount({
    circuit: { enabled: false, failures: 2 },
    lambda_destinations: ['arn:aws:lambda:*:*:function:orders-*'],
  });
  const authorization = { authorization: `Bearer ${account.token}` };
  const keys = z
    .object({ current: z.string(), next: z.string() })
    .parse(await (await fetch(`${service.url}/v2/keys`, { headers: authorization })).json());
  const { management } = service;
  const env = {
    SVC_URL: service.url,
    SVC_PUBLISH_URL: service.publishUrl,
    SVC_TOKEN: account.token,
    SVC_CURRENT_SIGNING_KEY: keys.current,
    SVC_NEXT_SIGNING_KEY: keys.next,
    SVC_MANAGEMENT_URL: management.url,
    SVC_MANAGEMENT_USER: management.user,
    SVC_MANAGEMENT_PASSWORD: management.password,
    // The hosted service’s variables for readers of the migration guide.
    QSTASH_URL: service.url,
    QSTASH_TOKEN: account.token,
    QSTASH_CURRENT_SIGNING_KEY: keys.current,
    QSTASH_NEXT_SIGNING_KEY: keys.next,
  };
  return { authorization, env };
}

/** Runs a program, with a message for one that takes messages. */
async function expectToRun(
  { at, text }: Pick<Block, 'at' | 'text'>,
  run: (env: Readonly<Record<string, string>>) => Promise<string>,
): Promise<void> {
  const { env } = await readersEnv();
  const isTaking = text.includes('pull/gpu');
  if (isTaking) await publishAs({ token: env.SVC_TOKEN }, 'pull:gpu', { body: '東京' });
  expect(await run(env), at).toContain(isTaking ? 'order 東京' : '');
}

it('examples have a known language', () => {
  expect(new Set(blocks.map(({ language }) => language))).toEqual(
    new Set(['sh', 'json', 'ts', 'python', 'go', 'yaml']),
  );
});

it.each(ofLanguages('json'))('the JSON at $at is JSON', ({ text }) => {
  expect(() => JSON.parse(text) as unknown).not.toThrow();
});

// The destinations are on this machine, which a deployed service cannot reach.
describe.skipIf(service.target === 'deployed')('examples against the service:', () => {
  describe('programs', () => {
    let programs: readonly Program[] = [];
    let folder = '';
    beforeAll(async () => {
      folder = await mkdtemp(join(packages, 'programs-'));
      programs = writePrograms(folder, [...ofLanguages('ts', 'js'), ...blocks.flatMap(programsIn)]);
    });
    afterAll(() => rm(folder, { recursive: true, force: true }));

    it(
      'have the types of the packages that they import',
      async () => {
        expect(programs.length).toBeGreaterThan(5);
        expect(await typeErrors(folder, programs)).toBe('');
      },
      limitForInstallsMs,
    );

    it('run, if everything that they use is available', async () => {
      const complete = programs.filter(({ isComplete, at }) => isComplete && !at.includes(', '));
      expect(complete.length).toBeGreaterThan(2);
      for (const { at, file } of complete) {
        const text = ofLanguages('ts', 'js').find((block) => block.at === at)?.text ?? '';
        await expectToRun({ at, text }, (env) => runProgram(file, env));
      }
    });
  });

  const runners = {
    python: (text: string, env: Readonly<Record<string, string>>) =>
      runPython(pythonPrograms ?? '', text, env),
    go: runGo,
  };

  it.for([
    ['python', python !== undefined],
    // In CI, a missing compiler is an error.
    ['go', process.env['CI'] !== undefined || spawnSync('go', ['version']).error === undefined],
  ] as const)('programs in %s run, if they use the service', async ([language, isPossible], { skip }) => {
    skip(!isPossible);
    const programs = ofLanguages(language).filter(({ text }) => text.includes('SVC_TOKEN'));
    expect(programs.length).toBeGreaterThan(0);
    for (const { at, text } of programs) {
      await expectToRun({ at, text }, (env) => runners[language](text, env));
    }
  });

  const shells = documents.flatMap((document) => {
    const own = blocksOf(document).filter(({ language }) => language === 'sh');
    const isPossible = python !== undefined || !own.some(({ text }) => /^pip /m.test(text));
    return own.length === 0 || !isPossible ? [] : [{ document, own }];
  });

  const otherCommands: Command[] = [];

  it.concurrent.each(shells)('the commands of $document succeed', async ({ document, own }) => {
    const { authorization, env } = await readersEnv();
    const ask = async (
      method: string,
      path: string,
      body = '{}',
      headers: Readonly<Record<string, string>> = {},
    ) => {
      const response = await fetch(`${service.url}${path}`, {
        method,
        headers: { ...authorization, ...headers },
        ...(method === 'GET' ? {} : { body }),
      });
      const text = await response.text();
      if (!response.ok) throw new Error(`${path} answered ${response.status}: ${text}`);
      return JSON.parse(text === '' ? '{}' : text) as Readonly<Record<string, string>>;
    };
    const inbox = receiver.inbox();
    const failing = receiver.inbox((_delivery, response) => response.writeHead(500).end());
    const waiting = { 'Svc-Delay': '1h' };
    const makers: Readonly<Record<string, () => Promise<string | undefined>>> = {
      messages: async () => (await ask('POST', `/v2/publish/${inbox.url}`, '1', waiting))['messageId'],
      users: async () => (await makeAccount()).id,
      bulk: async () =>
        (await ask('DELETE', '/v2/messages?label=of-no-message&background=true', ''))['bulkId'],
      schedules: async () =>
        (await ask('POST', `/v2/schedules/${inbox.url}`, '1', { 'Svc-Cron': '0 0 1 1 *' }))['scheduleId'],
      runs: async () => (await ask('POST', `/v2/trigger/${inbox.url}`, '1', waiting))['workflowRunId'],
      resume: async () => {
        await ask('POST', `/v2/trigger/${failing.url}`, '1', {
          'Svc-Retries': '0',
          'Svc-Label': 'of-the-docs',
        });
        const listed = z.object({ messages: z.array(z.object({ dlqId: z.string() })) });
        const { messages } = await eventually(
          async () => listed.parse(await ask('GET', '/v2/workflows/dlq?label=of-the-docs')),
          ({ messages: { length } }) => length === 1,
        );
        return messages[0]?.dlqId;
      },
    };
    const same: Readonly<Record<string, string>> = {
      workflowRunId: 'runs',
      'rotate-token': 'users',
      stats: 'users',
    };
    const made = new Map<string, Promise<string | undefined>>();
    const idOf = async (segment: string): Promise<string> => {
      const kind = same[segment] ?? segment;
      const making = made.get(kind) ?? makers[kind]?.();
      if (making === undefined)
        throw new Error(`${document} has an id of "${segment}", which no maker makes.`);
      made.set(kind, making);
      return (await making) ?? '';
    };
    // Documents publish to the URL group and the queue of another document.
    await ask('POST', '/v2/topics/orders/endpoints', JSON.stringify({ endpoints: [{ url: inbox.url }] }));
    await ask('POST', '/v2/queues', JSON.stringify({ queueName: 'orders' }));
    const other = await startReceiver();
    const isServed = own.some(({ text }) => isServer(text));
    const port = Number(new URL(other.origin).port);
    if (isServed) await other.close();
    // A document closes this host’s circuit, which must be open for that.
    else if (own.some(({ text }) => text.includes('/v2/circuits/localhost:3000'))) {
      const down = other.inbox((_delivery, response) => response.writeHead(500).end());
      const url = down.url.replace('127.0.0.1', 'localhost');
      // Two failures, more than a second apart.
      await ask('POST', `/v2/publish/${url}`, '1', { 'Svc-Circuit': 'on', 'Svc-Retry-Delay': '1500' });
      await eventually(
        async () => z.array(z.unknown()).parse(await ask('GET', '/v2/circuits')),
        ({ length }) => length === 1,
      );
    }
    try {
      const setting = { env, port, packages, pythonPrograms, idOf };
      const { exitCode, output, requests, commands } = await runBlocks(own, setting);
      otherCommands.push(...commands);
      expect(exitCode, output).toBe(0);
      const asked = own.reduce((sum, { text }) => sum + [...text.matchAll(/\bcurl /g)].length, 0);
      // A document may ask until something has happened.
      expect(requests.length, output).toBeGreaterThanOrEqual(asked);
      expect(requests.filter((one) => !one.startsWith('2'))).toEqual([]);
    } finally {
      if (!isServed) await other.close();
    }
  });

  it('the documents’ commands of other programs have valid arguments', async () => {
    expect(otherCommands.length).toBeGreaterThan(20);
    expect(await faultsIn(otherCommands, awsCli)).toEqual([]);
  });
});
