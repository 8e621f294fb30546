/** Checks the arguments of commands in documents without running them, with each program's own parser. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Ending } from '../../../cli/commandLine.ts';
import { parseOptions as parseBench } from '../../../bench/options.ts';
import { names as cdkCommands, parseCdk } from '../../../bin/commands/cdk.ts';
import { parseTemplate } from '../../../bin/commands/template.ts';
import { parseBackupOptions } from '../../../local/backup/options.ts';
import { parseCheckOptions } from '../../../local/check/options.ts';
import { parseOptions as parseStart } from '../../../local/stage/options.ts';
import { parseOptions as parseMigrate } from '../../../migrate/options.ts';
import { parseAccounts } from '../../../operate/accounts.ts';
import { completion } from '../../../operate/api/completion.ts';
import { parseLogin } from '../../../operate/api/login.ts';
import { parseOpen } from '../../../operate/api/open.ts';
import { parseApi } from '../../../operate/api/options.ts';
import { shortcuts } from '../../../operate/api/shortcuts.ts';
import { parseMcp } from '../../../operate/mcp/server.ts';
import {
  parseDrain,
  parseRedrive,
  parseMasterSecretCommand,
  parsePassword,
  parseRecover,
  parseShell,
} from '../../../operate/options.ts';
import { afterChecks } from '../../../verify/after/checks.ts';
import { beforeChecks } from '../../../verify/before/checks.ts';
import { parseVerify } from '../../../verify/options.ts';
import { root } from '../bundledStage.ts';
import { limitForInstallsMs } from '../limits.ts';
import { awsCliPackage, findPython, installPackage } from '../python.ts';

export interface Command {
  readonly program: string;
  /** The region in its environment; may be empty. */
  readonly region: string;
  readonly args: readonly string[];
}

const run = promisify(execFile);
const python = findPython();

/**
 * Installs the AWS CLI.
 *
 * @returns a Python with it; undefined if there is no Python, which is an error in CI
 */
export async function installAwsCli(): Promise<string | undefined> {
  if (python !== undefined) return installPackage(python, awsCliPackage);
  if (process.env['CI'] === undefined) return undefined;
  throw new Error('There is no Python 3.10 or newer with its venv module.');
}

async function faultsOfAws(
  commands: readonly Command[],
  interpreter: string | undefined,
): Promise<readonly string[]> {
  if (interpreter === undefined || commands.length === 0) return [];
  const program = join(import.meta.dirname, 'awsCommands.py');
  const { stdout } = await run(interpreter, [program, JSON.stringify(commands)], {
    timeout: limitForInstallsMs,
  });
  return stdout.split('\n').filter((line) => line !== '');
}

const names = (checks: readonly { readonly name: string }[]) => checks.map(({ name }) => name);

const parsers: Readonly<Record<string, (args: readonly string[]) => unknown>> = {
  start: (args) => parseStart(args, {}),
  dev: (args) => parseStart(args, {}),
  backup: (args) => parseBackupOptions('backup', args, {}),
  restore: (args) => parseBackupOptions('restore', args, {}),
  check: (args) => parseCheckOptions(args, {}),
  drain: parseDrain,
  redrive: (args) => parseRedrive(args, {}),
  shell: parseShell,
  recover: (args) => parseRecover(args, Date.now()),
  'master-secret': parseMasterSecretCommand,
  accounts: parseAccounts,
  bench: parseBench,
  password: parsePassword,
  migrate: (args) => parseMigrate(args, migrateVariables),
  template: parseTemplate,
  verify: (args) => parseVerify(args, { before: names(beforeChecks), after: names(afterChecks) }),
  open: parseOpen,
  login: parseLogin,
  mcp: parseMcp,
  completion: (args) => completion(args, []),
  ...Object.fromEntries(
    [...Object.keys(shortcuts), 'api'].map((name) => [
      name,
      (args: readonly string[]) => parseApi([name, ...args]),
    ]),
  ),
  ...Object.fromEntries(
    cdkCommands.map((name) => [name, (args: readonly string[]) => parseCdk([name, ...args])]),
  ),
};

/** The parameters of `migrate` for the two APIs. */
const migrateVariables = {
  QSTASH_TOKEN: 'token-of-the-source',
  SVC_URL: 'https://to.example.com',
  SVC_TOKEN: 'token',
};

function faultsOfCommand(given: readonly string[]): readonly string[] {
  const [name = 'start', ...args] = given;
  const read = parsers[name];
  if (read === undefined) return [`There is no command svc-queue ${name}.`];
  try {
    read(args);
    return [];
  } catch (error) {
    if (!(error instanceof Ending)) throw error;
    return [`svc-queue ${given.join(' ')}: ${error.message}`];
  }
}

const helps = new Map<string, Promise<{ readonly stdout: string }>>();

/** Finds flags that the CDK CLI's help for the command does not have. */
async function faultsOfCdk(command: string, args: readonly string[]): Promise<readonly string[]> {
  const cdk = join(root, 'node_modules/aws-cdk/bin/cdk');
  const help = helps.get(command) ?? run(process.execPath, [cdk, command, '--help'], { cwd: root });
  helps.set(command, help);
  const known = new Set((await help).stdout.match(/(?<=[\s,])--?[a-z][a-z-]*/g));
  return args.filter((arg) => arg.startsWith('-') && !known.has(arg)).map((flag) => `cdk ${command} ${flag}`);
}

function faultsOf({ program, args }: Command): readonly string[] | Promise<readonly string[]> {
  const [first = '', ...others] = args;
  if (program === 'npx' && first === 'cdk') return faultsOfCdk(others[0] ?? '', others.slice(1));
  if (program === 'npx' || program === 'svc-queue') {
    const own = program === 'npx' ? others : args;
    const end = own.indexOf('--');
    const further = end === -1 ? [] : faultsOfCdk(own[0] ?? '', own.slice(end + 1));
    return Promise.resolve(further).then((faults) => [...faultsOfCommand(own), ...faults]);
  }
  if (program === 'docker') {
    return args.includes('exec') && args.includes('svc-queue')
      ? faultsOfCommand(args.slice(args.indexOf('svc-queue') + 1))
      : [];
  }
  if (program !== 'npm') return [];
  const [name = '', ...given] = (first === 'run' ? others : args).filter((one) => one !== '--');
  return ['start', 'bench'].includes(name) ? faultsOfCommand([name, ...given]) : [];
}

/**
 * Finds wrong arguments of commands, each described in a sentence.
 *
 * @param awsCli the result of {@link installAwsCli}
 */
export async function faultsIn(
  commands: readonly Command[],
  awsCli: string | undefined,
): Promise<readonly string[]> {
  const [ofAws, ...others] = await Promise.all([
    faultsOfAws(
      commands.filter(({ program }) => program === 'aws'),
      awsCli,
    ),
    ...commands.map(faultsOf),
  ]);
  return [...ofAws, ...others.flat()];
}
