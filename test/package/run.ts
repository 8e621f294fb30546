/**
 * `npm run test:package`: packs, installs the archive into an empty folder, and does what users do: starts the local stage and
 * sends a message, deploys with the command, and deploys the example app. `-- deploy` skips the first part.
 */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import { homedir, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import * as z from 'zod';
import { findPython, installPackage } from '../support/python.ts';
import { deployPackage } from './deploy.ts';

const root = resolve(import.meta.dirname, '../..');
const folder = mkdtempSync(join(tmpdir(), 'svc-package-'));
const home = join(folder, 'home');
const begun = Date.now();

const longestCommandMs = 600_000;

/** npm's knowledge of this machine, with a home folder where no stage has been started. */
const env = {
  npm_config_cache: join(homedir(), '.npm'),
  npm_config_userconfig: join(homedir(), '.npmrc'),
  ...process.env,
  HOME: home,
};

const say = (text: string): void => {
  console.log(`${Math.round((Date.now() - begun) / 1000).toString()} s: ${text}`);
};

async function run(
  cwd: string,
  file: string,
  args: readonly string[],
  more: Readonly<Record<string, string | undefined>> = {},
): Promise<string> {
  const options = {
    cwd,
    env: { ...env, ...more, HOME: home },
    timeout: longestCommandMs,
    maxBuffer: 100_000_000,
  };
  return (await promisify(execFile)(file, [...args], options)).stdout;
}

const emptyFolder = (name: string): string => {
  const path = join(folder, name);
  mkdirSync(path, { recursive: true });
  return path;
};

/** Packs in a copy of the files that git knows, as a fresh clone has them, with the command that the README names. */
async function pack(): Promise<string> {
  const clone = emptyFolder('clone');
  const listed = await run(root, 'git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard']);
  for (const name of listed.split('\0'))
    if (name !== '' && existsSync(join(root, name))) cpSync(join(root, name), join(clone, name));
  const readme = readFileSync(join(root, 'README.md'), 'utf8');
  const [, command] = /`([^`]+npm pack)` in a clone/.exec(readme) ?? [];
  if (command === undefined) throw new Error('The README does not say how to make the archive.');
  await run(clone, 'sh', ['-c', command], { npm_config_ignore_scripts: 'false', npm_config_audit: 'false' });
  const name = readdirSync(clone).find((one) => one.endsWith('.tgz'));
  if (name === undefined) throw new Error(`\`${command}\` makes no archive.`);
  return join(clone, name);
}

/** The folders of lmdb and its dependencies, including its binaries for this platform. */
const storeFolders = [
  'lmdb',
  '@lmdb',
  '@msgpackr-extract',
  '@harperfast',
  'detect-libc',
  'msgpackr',
  'msgpackr-extract',
  'node-addon-api',
  'node-gyp-build-optional-packages',
  'ordered-binary',
  'weak-lru-cache',
];

/** Installs the archive, which must bring only the store's package. */
async function install(archive: string): Promise<void> {
  const cwd = emptyFolder('empty');
  writeFileSync(join(cwd, 'package.json'), '{}');
  const start = Date.now();
  await run(cwd, 'npm', ['install', '--no-audit', '--no-fund', archive]);
  const took = Date.now() - start;
  const installed = readdirSync(join(cwd, 'node_modules')).filter((name) => !name.startsWith('.'));
  if (
    !installed.includes('lmdb') ||
    !installed.every((name) => ['svc-queue', ...storeFolders].includes(name))
  ) {
    throw new Error(`The installation brought ${installed.join(', ')}.`);
  }
  say(`installed in ${took.toString()} ms`);
}

/** Installs the archive without the store's package: commands that need no store work, and the others say what is missing. */
async function runWithoutStore(archive: string): Promise<void> {
  const cwd = emptyFolder('without');
  writeFileSync(join(cwd, 'package.json'), '{}');
  await run(cwd, 'npm', ['install', '--no-audit', '--no-fund', '--omit=optional', archive]);
  for (const command of ['verify', 'migrate', 'deploy'])
    await run(cwd, 'npx', ['svc-queue', command, '--help']);
  const refused = run(cwd, 'npx', ['svc-queue', 'start', '--in-memory']).then(
    () => 'It started.',
    (error: unknown) => z.object({ stderr: z.string() }).parse(error).stderr,
  );
  const text = await refused;
  if (!text.startsWith('The package lmdb')) throw new Error(`Without lmdb the stage says: ${text}`);
  say('without lmdb, other commands run');
}

/** Starts the stage from the archive, as a user with only Node.js does, and sends a message. */
async function startAndSend(archive: string): Promise<void> {
  const cwd = emptyFolder('stage');
  const received = new Promise<string>((resolve) => {
    receiver.on('request', (request, response) => {
      let text = '';
      request.setEncoding('utf8').on('data', (part: string) => (text += part));
      request.on('end', () => {
        response.end();
        resolve(text);
      });
    });
  });
  receiver.listen(0, '127.0.0.1');
  await once(receiver, 'listening');
  const address = receiver.address();
  if (address === null || typeof address === 'string') throw new Error('The receiver has no port.');

  // npx takes an absolute path for a program.
  cpSync(archive, join(cwd, 'svc-queue.tgz'));
  const stage = spawn('npx', ['--yes', './svc-queue.tgz', 'start', '--port', '0', '--data-dir', 'data'], {
    cwd,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(stage, 'exit').then(() => {
    throw new Error('The stage ended before the message came.');
  });
  try {
    let output = '';
    const ready = new Promise<void>((resolve) => {
      stage.stdout.setEncoding('utf8').on('data', (part: string) => {
        output += part;
        if (/^SVC_MANAGEMENT_PASSWORD=.*\n/m.test(output)) resolve();
      });
    });
    await Promise.race([ready, ended]);
    const variable = (name: string): string => new RegExp(`^${name}=(.*)$`, 'm').exec(output)?.[1] ?? '';
    const url = variable('SVC_URL');
    const page = await fetch(`${url}/console`);
    if (!page.ok || !(await page.text()).includes('<title>')) throw new Error('There is no console.');
    await fetch(`${url}/v2/publish/http://127.0.0.1:${address.port.toString()}/`, {
      method: 'POST',
      headers: { authorization: `Bearer ${variable('SVC_TOKEN')}` },
      body: 'first',
    });
    const text = await Promise.race([received, ended]);
    if (text !== 'first') throw new Error(`The receiver got ${text}.`);
    say('a first message came');
  } finally {
    ended.catch(() => undefined);
    stage.kill('SIGTERM');
    receiver.close();
  }
}
const receiver = createServer();

/** Synthesizes the example with the archive, and lints its templates. */
async function synthesizeExample(archive: string): Promise<string> {
  const cwd = join(folder, 'app');
  cpSync(join(root, 'examples/cdk-app'), cwd, { recursive: true });
  await run(cwd, 'npm', ['install', '--no-audit', '--no-fund', archive]);
  await run(cwd, 'npx', ['cdk', 'synth', '--quiet']);
  const manifest = z
    .object({ artifacts: z.record(z.string(), z.object({ type: z.string() })) })
    .parse(JSON.parse(readFileSync(join(cwd, 'cdk.out/manifest.json'), 'utf8')));
  const stacks = Object.entries(manifest.artifacts)
    .filter(([, { type }]) => type === 'aws:cloudformation:stack')
    .map(([name]) => name);
  const wanted = ['Shop', 'SvcDev-Accounts', 'SvcDev-Contents', 'SvcDev-Management'];
  const missing = wanted.filter((name) => !stacks.includes(name));
  if (missing.length > 0) throw new Error(`The app has no stack ${missing.join(', ')}.`);
  say(`the example has the stacks ${stacks.join(', ')}`);

  const python = findPython();
  if (python === undefined) {
    if (process.env['CI'] !== undefined) throw new Error('There is no Python 3.10 or newer.');
    say('cfn-lint was skipped: there is no Python 3.10 or newer');
    return cwd;
  }
  const interpreter = await installPackage(python, { name: 'cfn-lint', version: '1.58.0' });
  // Another test lints the service's stacks.
  const templates = ['Shop', 'SvcDev-Accounts', 'SvcDev-Contents'].map(
    (name) => `cdk.out/${name}.template.json`,
  );
  await run(cwd, join(interpreter, '../cfn-lint'), ['--non-zero-exit-code', 'error', '--', ...templates]);
  say('cfn-lint finds no error');
  return cwd;
}

/** Runs `verify` beside the CDK without AWS: it reads the folder's settings, and reports that AWS does not answer. */
async function verifyNothing(cwd: string): Promise<void> {
  const nowhere = {
    AWS_ENDPOINT_URL: 'http://127.0.0.1:9',
    AWS_ACCESS_KEY_ID: 'any',
    AWS_SECRET_ACCESS_KEY: 'any',
  };
  const args = ['svc-queue', 'verify', '--before', '--json', '--region', 'eu-central-1'];
  const said = await run(cwd, 'npx', args, nowhere).then(
    () => 'It succeeded.',
    (error: unknown) => z.object({ stdout: z.string() }).parse(error).stdout,
  );
  if (!said.includes('"check": "credentials"')) throw new Error(`verify said: ${said}`);
  say('verify runs');
}

mkdirSync(home);
try {
  const archive = await pack();
  say('packed');
  if (process.argv[2] !== 'deploy') {
    await install(archive);
    await runWithoutStore(archive);
    await startAndSend(archive);
  }
  const app = await synthesizeExample(archive);
  await verifyNothing(app);
  if (findPython() === undefined) say('The emulator was skipped: there is no Python 3.10 or newer');
  else await deployPackage({ emptyFolder, run, app, archive });
} finally {
  rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
}
