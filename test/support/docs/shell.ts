/**
 * Runs the documents' shell blocks unchanged: a document's blocks in one shell, in a folder like the repository. `curl` is
 * real, and fails for an unsuccessful status. Commands that need AWS or take minutes are only recorded, so that their arguments
 * can be checked.
 */
import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { text as textOf } from 'node:stream/consumers';
import { inject } from 'vitest';
import { root } from '../bundledStage.ts';
import { limitForHangsMs } from '../limits.ts';
import { shortcuts } from '../../../operate/api/shortcuts.ts';
import type { Block } from './blocks.ts';
import type { Command } from './commands.ts';

/** Commands that are not run, and why. A stand-in checks their arguments. */
export const notRun: Readonly<Record<string, string>> = {
  aws: 'It needs an AWS account. It answers with what the documents read from it.',
  'svc-queue':
    'Most of its commands need an AWS account, and what they make is tested in `test/infra`. Those of users and `shell` are run.',
  npx: 'It is `cdk`, or another release of `svc-queue`.',
  npm: 'It installs packages, starts a stage that goes on, or runs tests and commands with tests of their own. Its script has to exist.',
  docker: 'It needs a daemon. The commands of `svc-queue` behind it are checked.',
  git: 'It changes the clone.',
  terraform: 'It needs an AWS account. The example was applied to the emulator by hand.',
  sleep: 'What a document waits for is on AWS.',
};

/** The answers of `aws`, by its first two arguments. The default answer is a word that is long enough for any id. */
const awsAnswers = (password: string): Readonly<Record<string, unknown>> => ({
  'secretsmanager get-secret-value': { username: 'admin', password },
  'dynamodb get-item': { id: { S: 'acct' } },
});

const bash = (...lines: readonly string[]): string => ['#!/usr/bin/env bash', ...lines, ''].join('\n');

/** Records a command with its arguments: see {@link commandsIn}. */
const record = `printf '%s\\0' "$(basename "$0")" "\${AWS_DEFAULT_REGION:-}" "$@" >> "$DOCS_COMMANDS"; echo >> "$DOCS_COMMANDS"`;

const commandsIn = (text: string): readonly Command[] =>
  text
    .split('\0\n')
    .slice(0, -1)
    .map((line) => {
      const [program = '', region = '', ...args] = line.split('\0');
      return { program, region, args };
    });

/** The commands of `svc-queue` that are run. */
const run = ['shell', 'api', 'open', 'login', 'completion', ...Object.keys(shortcuts)];

/** Stand-ins by name; `$1` and so on are their arguments. */
const standIns = (password: string, packages: string): Readonly<Record<string, string>> => ({
  // The block's own `-o` comes first. The last `-o` is for further requests.
  curl: bash(
    'body=$(mktemp)',
    // The real `curl` is in the path after this folder.
    `status=$(PATH="\${PATH#*${delimiter}}" command curl --silent --show-error "$@" --output "$body" --write-out '%{http_code}') || exit`,
    'cat "$body"; rm "$body"; echo',
    'echo "$status $*" >> "$DOCS_RECORD"',
    '[[ $status == 2* ]] || { echo "curl $*: status $status" >&2; exit 22; }',
  ),
  aws: bash(
    record,
    'case "$1 $2" in',
    ...Object.entries(awsAnswers(password)).map(
      ([words, answer]) => `  '${words}') echo '${JSON.stringify(answer)}' ;;`,
    ),
    '  *) echo 4f06cac4-97c0-4df6-a421-dba68e792cf8 ;;',
    'esac',
  ),
  'svc-queue': bash(
    record,
    `[[ ' ${run.join(' ')} ' != *" $1 "* ]] || exec node '${inject('bundledStage')}' "$@"`,
  ),
  npx: bash(
    record,
    '[[ $1 == cdk || $1 == ./svc-queue-*.tgz ]] || { echo "npx $1 is not known" >&2; exit 1; }',
  ),
  npm: bash(
    record,
    'case $1 in',
    '  install) [[ $2 != --global || $3 == ./svc-queue-*.tgz ]] || exit 1; [[ $2 != --global ]] || exit 0 ;;&',
    '  run) script=$2 ;;',
    '  start | test) script=$1 ;;',
    `  install) shift; for one in "$@"; do [[ -e ${packages}/node_modules/$one ]] || { echo "$one is not there" >&2; exit 1; }; done`,
    `    [[ $# == 0 ]] || ln -s ${packages}/node_modules node_modules; exit ;;`,
    '  ci | init | sbom | pack | version) exit ;;',
    '  *) echo "npm $1 is not known" >&2; exit 1 ;;',
    'esac',
    `node -e 'process.exit(process.argv[1] in require("${root}/package.json").scripts ? 0 : 1)' "$script" ||`,
    '  { echo "There is no script $script" >&2; exit 1; }',
  ),
  docker: bash(record, `[[ $* != *'cat /data/env' ]] || cat .svc/env`),
  // Found before the real program, which `python -m` starts.
  pip: bash('shift; exec python -m pip show --quiet "$@"'),
  git: bash('exit 0'),
  terraform: bash(record),
  sleep: bash('exit 0'),
});

export interface ShellSetting {
  readonly env: Readonly<Record<string, string>>;
  /** The port that replaces 3000. */
  readonly port: number;
  /** The folder whose `node_modules` has the packages that readers install. */
  readonly packages: string;
  /** The folder with the programs of the Python packages that readers install, if there is Python. */
  readonly pythonPrograms: string | undefined;
  /** Creates the thing whose id is in a path, from the segment before it, such as `messages` in `/v2/messages/$ID`. */
  readonly idOf: (segment: string) => Promise<string>;
}

/** Whether a program is a server. It then runs in the background while the document's later blocks use it. */
export const isServer = (text: string): boolean => /\.listen\(|^uvicorn /m.test(text);

const ids = /([\w-]+)([/=])\$\{?(?:ID|RUN|DLQ_ID)\b\}?/g;

/** Fills in values: ids, and placeholders such as `<token>` and `…`. */
async function filledIn(text: string, { env, port, idOf }: ShellSetting): Promise<string> {
  const made = new Map<string, string>();
  for (const [, segment = ''] of text.matchAll(ids)) {
    if (!made.has(segment)) made.set(segment, await idOf(segment));
  }
  const places: Readonly<Record<string, string | undefined>> = {
    region: 'eu-central-1',
    app: 'http://localhost:3000',
    ManagementUrl: env['SVC_MANAGEMENT_URL'],
    Url: env['SVC_URL'],
    token: env['SVC_TOKEN'],
    moment: new Date(Date.now() - 1_000).toISOString(),
  };
  const url = env['SVC_URL'] ?? '';
  return text
    .replaceAll(ids, (_all, segment: string, sign: string) => `${segment}${sign}${made.get(segment) ?? ''}`)
    .replaceAll(/<([A-Za-z][\w -]*)>/g, (_all, place: string) => places[place] ?? 'placeholder')
    .replaceAll(
      /\b(\w+)=…/g,
      (_all, name: string) => `${name}=${env[name.replace('QSTASH', 'SVC')] ?? 'placeholder'}`,
    )
    .replaceAll('https://qstash.upstash.io', url)
    .replaceAll('http://127.0.0.1:8080', url)
    .replaceAll(/\b3000\b/g, String(port));
}

export interface ShellRun {
  readonly exitCode: number;
  readonly output: string;
  /** The requests that `curl` made, with their statuses. */
  readonly requests: readonly string[];
  /** The commands that were recorded instead of run. */
  readonly commands: readonly Command[];
}

/** Runs a document's shell blocks until a command fails. */
export async function runBlocks(blocks: readonly Block[], setting: ShellSetting): Promise<ShellRun> {
  const home = await mkdtemp(join(tmpdir(), 'svc-docs-'));
  try {
    return await runIn(home, blocks, setting);
  } finally {
    await rm(home, { recursive: true, force: true });
  }
}

async function runIn(home: string, blocks: readonly Block[], setting: ShellSetting): Promise<ShellRun> {
  const [folder, tools] = [join(home, 'svc-queue'), join(home, 'tools')];
  const [requestLog, commandLog] = [join(home, 'requests'), join(home, 'commands')];
  await mkdir(join(folder, '.svc'), { recursive: true });
  await mkdir(tools);
  await writeFile(requestLog, '');
  await writeFile(commandLog, '');
  const lines = Object.entries(setting.env).map(([name, value]) => `${name}=${value}\n`);
  await writeFile(join(folder, '.svc/env'), lines.join(''));
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'));
  const { env, packages, port, pythonPrograms = tools } = setting;
  for (const [name, script] of Object.entries(standIns(env['SVC_MANAGEMENT_PASSWORD'] ?? '', packages))) {
    await writeFile(join(tools, name), script, { mode: 0o755 });
  }
  const parts: string[] = [];
  for (const { at, text } of blocks) {
    const filled = await filledIn(text, setting);
    parts.push(`echo ${JSON.stringify(`== ${at}`)}`);
    if (isServer(text)) {
      parts.push(`(\n${filled}\n) &`, 'server=$!');
      parts.push(
        `until (exec 3<>/dev/tcp/127.0.0.1/${port}) 2>/dev/null; do kill -0 $server; command -p sleep 0.05; done`,
      );
    } else parts.push(filled);
  }
  const child = spawn('bash', ['-c', ['set -euo pipefail', ...parts].join('\n')], {
    cwd: folder,
    // A separate process group, so that the shell's servers end with it.
    detached: true,
    // Before the test ends, so that it shows the output of a document that waits in vain.
    timeout: 2 * limitForHangsMs,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      ...process.env,
      ...env,
      PATH: [tools, pythonPrograms, process.env['PATH'] ?? ''].join(delimiter),
      HOME: home,
      DOCS_RECORD: requestLog,
      DOCS_COMMANDS: commandLog,
    },
  });
  const ended = new Promise<number>((resolve) => {
    child.once('exit', (code) => {
      if (child.pid !== undefined) endGroup(child.pid);
      resolve(code ?? -1);
    });
  });
  const [exitCode, output, errors] = await Promise.all([ended, textOf(child.stdout), textOf(child.stderr)]);
  const requests = (await readFile(requestLog, 'utf8')).split('\n').filter((line) => line !== '');
  const commands = commandsIn(await readFile(commandLog, 'utf8'));
  return { exitCode, output: `${output}${errors}`, requests, commands };
}

/** Ends the processes that a shell has left running. */
function endGroup(leader: number): void {
  try {
    process.kill(-leader, 'SIGKILL');
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
}
