/** The options of the operator's commands. */
import { parseArgs } from 'node:util';
import type { Deployment } from './environment.ts';
import { OperateError } from './operateError.ts';

export const drainUsage = `Usage: npm run drain -- --region eu-central-1 [--name Svc] [--every 60] [--once] [--undo]

  Has a region take no new messages, schedules and runs, and waits until nothing of it is left to do.

  --region   the region
  --name     of the deployment
  --every    seconds between two looks; each reads all tables of the region once
  --once     looks once: the exit status is 0 where nothing is left to do, and 1 otherwise
  --undo     has the region take everything again
`;

export const recoverUsage = `Usage: npm run recover -- --region eu-central-1 --restored-to 2026-03-22T18:59:00Z [--name Svc] [--dry-run]

  Makes all work anew that the tables of a region ask for: attempts, deadlines, and what fires schedules.

  --region        the region
  --restored-to   the moment to which the tables were restored; or, where only queues or schedules were lost, when that was
  --name          of the deployment
  --dry-run       counts what would be made
`;

export const masterSecretUsage = `Usage: npm run master-secret -- begin|end [--name Svc] [--region eu-central-1]

  begin      makes a new master secret; the old one stays good
  end        ends the old one
  --name     of the deployment
  --region   its first region
`;

export interface MasterSecretCommand extends Deployment {
  readonly step: 'begin' | 'end';
}

export interface DrainOptions extends Deployment {
  readonly everySeconds: number;
  readonly once: boolean;
  readonly undo: boolean;
}

export interface RecoverCommand extends Deployment {
  /** Unix milliseconds. */
  readonly restoredTo: number;
  readonly isDryRun: boolean;
}

const common = {
  region: { type: 'string' },
  name: { type: 'string', default: 'Svc' },
  help: { type: 'boolean', default: false },
} as const;

/** @throws OperateError for what is no option */
function parse<T extends NonNullable<Parameters<typeof parseArgs>[0]>['options']>(
  args: readonly string[],
  options: T,
  usage: string,
  { allowPositionals } = { allowPositionals: false },
) {
  try {
    return parseArgs({ args: [...args], options: { ...common, ...options }, strict: true, allowPositionals });
  } catch (error) {
    throw new OperateError(`${error instanceof Error ? error.message : String(error)}\n\n${usage}`);
  }
}

/** @throws OperateError where there is none */
function regionOf(region: string | undefined, usage: string): string {
  if (region !== undefined && /^[a-z]{2}(-[a-z]+)+-\d$/.test(region)) return region;
  const given = region === undefined ? 'is missing' : `is ${JSON.stringify(region)}`;
  throw new OperateError(`--region ${given}; allowed is a region such as eu-central-1.\n\n${usage}`);
}

/** @throws OperateError for wrong options */
export function parseMasterSecretCommand(args: readonly string[]): MasterSecretCommand | 'help' {
  const options = { region: { type: 'string', default: 'eu-central-1' } } as const;
  const { values, positionals } = parse(args, options, masterSecretUsage, { allowPositionals: true });
  if (values.help) return 'help';
  const [step, ...more] = positionals;
  if ((step !== 'begin' && step !== 'end') || more.length > 0) {
    const given = positionals.length === 0 ? 'is missing' : `is ${JSON.stringify(positionals.join(' '))}`;
    throw new OperateError(`The step ${given}; allowed are begin and end.\n\n${masterSecretUsage}`);
  }
  return { step, region: regionOf(values.region, masterSecretUsage), name: values.name };
}

/** @throws OperateError for wrong options */
export function parseDrain(args: readonly string[]): DrainOptions | 'help' {
  const { values } = parse(
    args,
    {
      every: { type: 'string', default: '60' },
      once: { type: 'boolean', default: false },
      undo: { type: 'boolean', default: false },
    },
    drainUsage,
  );
  if (values.help) return 'help';
  const everySeconds = Number(values.every);
  if (!Number.isInteger(everySeconds) || everySeconds < 1 || everySeconds > 86_400) {
    throw new OperateError(
      `--every is ${JSON.stringify(values.every)}; allowed are 1 to 86400 seconds.\n\n${drainUsage}`,
    );
  }
  const { name, once, undo } = values;
  return { region: regionOf(values.region, drainUsage), name, everySeconds, once, undo };
}

/** Unix milliseconds of a moment in UTC; undefined for a text that is none. */
function momentIn(text: string): number | undefined {
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?Z$/.test(text)) return undefined;
  const moment = Date.parse(text);
  // JavaScript takes the 31st of February for the 3rd of March.
  const isDay = !Number.isNaN(moment) && new Date(moment).toISOString().slice(0, 16) === text.slice(0, 16);
  return isDay ? moment : undefined;
}

/** @throws OperateError for wrong options */
export function parseRecover(args: readonly string[], now: number): RecoverCommand | 'help' {
  const { values } = parse(
    args,
    { 'restored-to': { type: 'string' }, 'dry-run': { type: 'boolean', default: false } },
    recoverUsage,
  );
  if (values.help) return 'help';
  const text = values['restored-to'];
  const restoredTo = momentIn(text ?? '');
  if (restoredTo === undefined || restoredTo > now) {
    throw new OperateError(
      `--restored-to is ${text === undefined ? 'missing' : JSON.stringify(text)}; ` +
        `allowed is a moment in the past, in UTC, such as 2026-03-22T18:59:00Z.\n\n${recoverUsage}`,
    );
  }
  const region = regionOf(values.region, recoverUsage);
  return { region, name: values.name, restoredTo, isDryRun: values['dry-run'] };
}
