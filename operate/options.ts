/** The options of the operator's commands. */
import { Argument, InvalidArgumentError } from '@commander-js/extra-typings';
import {
  command,
  dataDirectoryOf,
  folder,
  parse,
  region,
  textLike,
  wholeNumber,
} from '../cli/commandLine.ts';
import type { Deployment } from './environment.ts';

interface MasterSecretCommand extends Deployment {
  readonly step: 'begin' | 'end';
}

interface DrainOptions extends Deployment {
  readonly everySeconds: number;
  readonly once: boolean;
  readonly undo: boolean;
}

interface RecoverCommand extends Deployment {
  /** Unix milliseconds. */
  readonly restoredTo: number;
  readonly isDryRun: boolean;
}

export interface RedriveCommand {
  /** Undefined for a stage on this machine. */
  readonly deployment: Deployment | undefined;
  readonly dataDirectory: string;
}

const deployment = textLike(/./, 'the name of a deployment');

/** @throws Ending */
export function parseMasterSecretCommand(args: readonly string[]): MasterSecretCommand {
  const given = parse(
    command('master-secret', 'Replaces the master secret, in two steps.')
      .addArgument(
        new Argument(
          '<step>',
          'begin makes a new master secret, and the old one stays valid; end ends the old one',
        ).choices(['begin', 'end'] as const),
      )
      .option('--name <name>', 'of the deployment', deployment, 'Svc')
      .option('--region <region>', 'its first region', region, 'eu-central-1'),
    args,
  );
  return { step: given.processedArgs[0], ...given.opts() };
}

/** @throws Ending */
export function parseDrain(args: readonly string[]): DrainOptions {
  const about =
    'Makes a region refuse new messages, schedules and runs, and waits until nothing is left to do there.';
  const {
    every,
    once = false,
    undo = false,
    ...place
  } = parse(
    command('drain', about)
      .requiredOption('--region <region>', 'the region', region)
      .option('--name <name>', 'of the deployment', deployment, 'Svc')
      .option(
        '--every <seconds>',
        'seconds between two checks; each reads all tables of the region once',
        wholeNumber(1, 86_400),
        60,
      )
      .option('--once', 'check once: the exit status is 0 if nothing is left to do, and 1 otherwise')
      .option('--undo', 'make the region accept everything again'),
    args,
  ).opts();
  return { ...place, everySeconds: every, once, undo };
}

/** Makes a parser of UTC moments, to Unix milliseconds. */
function momentBefore(now: number): (text: string) => number {
  return (text) => {
    const isMoment = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?Z$/.test(text);
    const moment = isMoment ? Date.parse(text) : NaN;
    // JavaScript accepts 31 February as 3 March.
    const isDay = !Number.isNaN(moment) && new Date(moment).toISOString().slice(0, 16) === text.slice(0, 16);
    if (isDay && moment <= now) return moment;
    throw new InvalidArgumentError('Allowed is a moment in the past, in UTC, such as 2026-03-22T18:59:00Z.');
  };
}

/** @throws Ending */
export function parseRecover(args: readonly string[], now: number): RecoverCommand {
  const about =
    'Recreates all jobs that the tables of a region require: attempts, deadlines, and the triggers of schedules.';
  const { dryRun = false, ...given } = parse(
    command('recover', about)
      .requiredOption('--region <region>', 'the region', region)
      .requiredOption(
        '--restored-to <moment>',
        'the time to which the tables were restored, or at which queues or schedules were lost',
        momentBefore(now),
      )
      .option('--name <name>', 'of the deployment', deployment, 'Svc')
      .option('--dry-run', 'only count what would be made'),
    args,
  ).opts();
  return { ...given, isDryRun: dryRun };
}

/** @throws Ending */
export function parseRedrive(
  args: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
): RedriveCommand {
  const given = parse(
    command('redrive', 'Sends back parked messages, and fires that could not be sent.')
      .option('--region <region>', 'the region of a deployment', region)
      .option('--name <name>', 'of the deployment', deployment, 'Svc')
      .option(
        '--data-dir <folder>',
        'without a region: of a stage on this machine (SVC_DATA_DIR; .svc)',
        folder,
      ),
    args,
  ).opts();
  return {
    deployment: given.region === undefined ? undefined : { region: given.region, name: given.name },
    dataDirectory: dataDirectoryOf(given.dataDir, environment),
  };
}

/** @throws Ending */
export const parseShell = (args: readonly string[]): Deployment =>
  parse(
    command(
      'shell',
      'Prints what a shell needs for the documents’ commands: the region, and the function resource.',
    )
      .requiredOption('--region <region>', 'the region', region)
      .option('--name <name>', 'of the deployment', deployment, 'Svc')
      .addHelpText(
        'after',
        `
Examples:
  eval "$(svc-queue shell --region eu-central-1)"
  resource Service SQS::Queue QueuesShort`,
      ),
    args,
  ).opts();

interface PasswordCommand extends Deployment {
  /** Whether a new password replaces the previous one. */
  readonly isNew: boolean;
  readonly isJson: boolean;
}

/** @throws Ending */
export function parsePassword(args: readonly string[]): PasswordCommand {
  const {
    new: isNew = false,
    json: isJson = false,
    ...place
  } = parse(
    command('password', 'Shows the login of the management API, or gives it a new password.')
      .option('--name <name>', 'of the deployment', deployment, 'Svc')
      .option('--region <region>', 'its first region', region, 'eu-central-1')
      .option('--new', 'make a new password, which replaces the old one')
      .option('--json', 'print JSON')
      .addHelpText('after', '\nExamples:\n  svc-queue password\n  svc-queue password --new --name SvcDev'),
    args,
  ).opts();
  return { ...place, isNew, isJson };
}
