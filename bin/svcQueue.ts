#!/usr/bin/env node
/** The command `svc-queue`. It loads each of its commands when it is called. */
import { Command } from '@commander-js/extra-typings';
import manifest from '../package.json' with { type: 'json' };
import { runCommand } from './runCommand.ts';
import { hasCdk, runBesideCdk } from './cdk.ts';
import { Ending, parse, sayEnding } from '../cli/commandLine.ts';
import { shortcuts } from '../operate/api/shortcuts.ts';

interface Listed {
  readonly about: string;
  /** Runs the command. It throws an `Ending` for invalid arguments. */
  readonly load: () => Promise<{ readonly run: (args: readonly string[]) => Promise<void> }>;
  /** Arguments before the user's. */
  readonly first?: readonly string[];
}

/**
 * Loads a command that opens a store. The store's package is missing if npm was told so, or if it does not run on this machine.
 */
const withStore =
  (load: Listed['load']): Listed['load'] =>
  async () => {
    try {
      await import('lmdb');
    } catch (error) {
      const [reason = ''] = String(error).split('\n');
      throw new Ending(
        `The package lmdb, which keeps the data, cannot be loaded (${reason}). Install svc-queue again, with its optional packages.`,
        2,
      );
    }
    return load();
  };

const ofOperators: Readonly<Record<string, Listed>> = {
  start: {
    about: 'run the whole service on this machine (the default)',
    load: withStore(() => import('./commands/start.ts')),
  },
  dev: {
    about: 'the same, for applications that run with QSTASH_DEV=true',
    load: withStore(() => import('./commands/start.ts')),
    first: ['--dev'],
  },
  backup: {
    about: 'write all data of a stage on this machine into one file, even while it runs',
    load: withStore(() => import('./commands/data.ts')),
    first: ['backup'],
  },
  restore: {
    about: 'restore this file into a data directory',
    load: withStore(() => import('./commands/data.ts')),
    first: ['restore'],
  },
  check: {
    about: 'check all data of a stage, even while it runs, and report what is wrong',
    load: withStore(() => import('./commands/data.ts')),
    first: ['check'],
  },
  listen: {
    about: 'take messages and make them as requests to a port of this machine, without an address for it',
    load: () => import('./commands/listen.ts'),
  },
  bootstrap: {
    about: 'prepare an AWS account and its regions for deployments, once',
    load: () => import('./commands/cdk.ts'),
    first: ['bootstrap'],
  },
  deploy: {
    about: 'deploy the service to AWS, or changed settings',
    load: () => import('./commands/cdk.ts'),
    first: ['deploy'],
  },
  diff: {
    about: 'show what a deployment would change',
    load: () => import('./commands/cdk.ts'),
    first: ['diff'],
  },
  drift: {
    about: 'show changes that were made by hand',
    load: () => import('./commands/cdk.ts'),
    first: ['drift'],
  },
  destroy: {
    about: 'delete a deployment; its data stays with the setting retain',
    load: () => import('./commands/cdk.ts'),
    first: ['destroy'],
  },
  template: {
    about: 'write CloudFormation templates and code for Terraform, OpenTofu or the AWS CLI',
    load: () => import('./commands/template.ts'),
  },
  verify: {
    about: 'test a deployment by using it, or check the AWS account before one',
    load: async () => (hasCdk() ? import('./commands/verify.ts') : { run: () => runCommand(runBesideCdk) }),
  },
  accounts: {
    about: 'list, make, change, suspend and delete accounts',
    load: () => import('./commands/accounts.ts'),
  },
  password: {
    about: 'show or replace the password of the management API',
    load: () => import('./commands/password.ts'),
  },
  shell: {
    about: 'print shell variables and functions for the operators’ commands',
    load: () => import('./commands/shell.ts'),
  },
  migrate: {
    about: 'copy queues, URL groups and schedules from one QStash-compatible API to another',
    load: () => import('./commands/migrate.ts'),
  },
  drain: {
    about: 'empty a region before it is given up',
    load: () => import('./commands/drain.ts'),
  },
  recover: {
    about: 'recreate jobs after tables were restored, or queues were lost',
    load: () => import('./commands/recover.ts'),
  },
  redrive: {
    about: 'send back parked messages, and fires that could not be sent',
    load: () => import('./commands/redrive.ts'),
  },
  'master-secret': {
    about: 'replace the master secret, in two steps',
    load: () => import('./commands/masterSecret.ts'),
  },
};

/** Commands beside the API's operations. */
const ofTerminals: Readonly<Record<string, Listed>> = {
  open: {
    about: 'print the address of a thing in the console, or open it with --browser',
    load: () => import('./commands/users/open.ts'),
  },
  login: {
    about: 'store the address of a service and a token for these commands',
    load: () => import('./commands/users/login.ts'),
  },
  mcp: {
    about: 'serve agents: the Model Context Protocol over standard input and output',
    load: () => import('./commands/users/mcp.ts'),
  },
  completion: {
    about: 'print the completion of these commands for bash, zsh or fish',
    load: async () => {
      const { run } = await import('./commands/users/completion.ts');
      return { run: (args) => run(args, Object.keys(commands)) };
    },
  },
};

/** Commands for users of an account: frequent operations of its API. */
const forUsers = Object.fromEntries(
  [...Object.entries(shortcuts), ['api', { about: 'do any operation of the API' }] as const].map(
    ([name, { about }]): [string, Listed] => [
      name,
      { about, load: () => import('./commands/users/api.ts'), first: [name] },
    ],
  ),
);

const commands: Readonly<Record<string, Listed>> = { ...ofOperators, ...forUsers, ...ofTerminals };

/** Commands that others run: the CDK app, see `cdk.ts`, and a function of a stage. */
const hidden: Readonly<Record<string, Listed>> = {
  app: { about: '', load: () => import('./commands/app.ts') },
  function: { about: '', load: () => import('../local/lambda/functionProcess.ts') },
};

const examples = `
Examples:
  svc-queue                                        the service on this machine, at http://127.0.0.1:8080
  svc-queue start --port 8081 --in-memory
  svc-queue deploy --region eu-central-1 -c monitoring=false
  svc-queue accounts create ops@acme.example type=paid
  svc-queue messages label=order-7 state=ALL

Exit status: 0 done; 1 failed, or something is left to do; 2 wrong arguments, or a mistake named in the message.
svc-queue <command> --help has the flags of a command.`;

/** Finds the command and its arguments. Without a name, it is `start`. */
function chosen(args: readonly string[]): { readonly listed: Listed; readonly args: readonly string[] } {
  const [name = 'start'] = args;
  const isFlag = name.startsWith('-') && !['--help', '--version'].includes(name);
  const listed = hidden[name] ?? commands[isFlag ? 'start' : name];
  if (listed !== undefined)
    return { listed, args: [...(listed.first ?? []), ...(isFlag ? args : args.slice(1))] };
  const program = new Command('svc-queue')
    .description(manifest.description)
    .usage('[command] [flags]')
    .version(manifest.version, '--version', 'the version')
    .helpOption('--help', 'this text')
    .helpCommand(false)
    .configureHelp({ helpWidth: 120 })
    .addHelpText('after', examples)
    .exitOverride();
  for (const [known, { about }] of Object.entries(commands))
    program.command(known).summary(about).description(about);
  if (!name.startsWith('-')) throw new Ending(`Unknown command '${name}'; --help lists the commands.`, 2);
  parse(program, args);
  throw new Error(`${name} neither was the help, nor was it refused.`);
}

try {
  const { listed, args } = chosen(process.argv.slice(2));
  await (await listed.load()).run(args);
} catch (error) {
  sayEnding(error);
}
