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
  readonly load: () => Promise<{
    readonly run: (args: readonly string[], commands: readonly string[]) => Promise<void>;
  }>;
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

/** Commands of one module, which gets their names as the first argument. */
const together = (
  load: Listed['load'],
  abouts: Readonly<Record<string, string>>,
): Readonly<Record<string, Listed>> =>
  Object.fromEntries(Object.entries(abouts).map(([name, about]) => [name, { about, load, first: [name] }]));

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
  ...together(
    withStore(() => import('./commands/data.ts')),
    {
      backup: 'write all data of a stage on this machine into one file, even while it runs',
      restore: 'restore this file into a data directory',
      check: 'check all data of a stage, even while it runs, and report what is wrong',
    },
  ),
  ...together(() => import('./commands/users.ts'), {
    listen: 'take messages and make them as requests to a port of this machine, without an address for it',
  }),
  ...together(() => import('./commands/cdk.ts'), {
    bootstrap: 'prepare an AWS account and its regions for deployments, once',
    deploy: 'deploy the service to AWS, or changed settings',
    diff: 'show what a deployment would change',
    drift: 'show changes that were made by hand',
    destroy: 'delete a deployment; its data stays with the setting retain',
  }),
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

/** Commands for users of an account: frequent operations of its API, and what belongs to them. */
const forUsers = together(() => import('./commands/users.ts'), {
  ...Object.fromEntries(Object.entries(shortcuts).map(([name, { about }]) => [name, about])),
  api: 'do any operation of the API',
  open: 'print the address of a thing in the console, or open it with --browser',
  login: 'store the address of a service and a token for these commands',
  mcp: 'serve agents: the Model Context Protocol over standard input and output',
  completion: 'print the completion of these commands for bash, zsh or fish',
});

const commands: Readonly<Record<string, Listed>> = { ...ofOperators, ...forUsers };

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
  const { run } = await listed.load();
  await run(args, Object.keys(commands));
} catch (error) {
  sayEnding(error);
}
